#include "host/core/plan_worth.hpp"

#include "host/core/chosen_policy.hpp"
#include "host/core/plan_builder.hpp"
#include "host/core/shape_choice.hpp"
#include "host/core/state_impl.hpp"
#include "host/core/walk_problem.hpp"

namespace berth::core {

std::int64_t worth_by(const StateImpl& s, const Plan& plan, const Plan& by) {
  ChosenPolicy chosen;
  chosen.choose(by.policy, by.params);
  WalkProblem problem;
  problem.build(s, chosen.rules.placement);
  PlanBuilder builder;
  CertificateMemory certificates;
  const WalkInput::Marks marks{problem.lost(), problem.mended(), builder.decline(s, problem.view(), certificates)};
  ShapeChoice choice;
  choice.look(s, problem.view(), marks, chosen.choice);
  return choice.worth_of(s, chosen.choice, plan).value;
}

}  // namespace berth::core
