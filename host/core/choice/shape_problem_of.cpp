#include "host/core/choice/shape_problem_of.hpp"

#include "host/core/placement/pass_problem.hpp"
#include "host/core/placement/rejections.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

ShapeProblem shape_problem_of(const StateImpl& s, const ChosenPolicy& chosen) {
  PassProblem problem;
  problem.build(s, chosen.rules);
  Rejections rejections;
  CertificateMemory certificates;
  const PassInput::Marks marks{problem.lost(), problem.failures(), rejections.reject(s, problem.view(), certificates),
                               rejections.impossible(s, problem.view())};
  ShapeProblem choice;
  choice.look(s, problem.view(), marks, chosen.choice);
  return choice;
}

}  // namespace berth::core
