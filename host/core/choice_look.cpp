#include "host/core/choice_look.hpp"

#include "host/core/plan_builder.hpp"
#include "host/core/state_impl.hpp"
#include "host/core/walk_problem.hpp"

namespace berth::core {

ShapeChoice look_at_choice(const StateImpl& s, const ChosenPolicy& chosen) {
  WalkProblem problem;
  problem.build(s, chosen.rules);
  PlanBuilder builder;
  CertificateMemory certificates;
  const WalkInput::Marks marks{problem.lost(), problem.mended(), builder.decline(s, problem.view(), certificates),
                               builder.impossible(s, problem.view())};
  ShapeChoice choice;
  choice.look(s, problem.view(), marks, chosen.choice);
  return choice;
}

}  // namespace berth::core
