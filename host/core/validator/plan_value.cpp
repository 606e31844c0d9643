#include "host/core/validator/plan_value.hpp"

#include <string>
#include <utility>
#include <vector>

#include "host/core/choice/shape_problem_of.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

std::int64_t objective_value_by(const StateView& view, const Plan& plan, const Plan& by) {
  const StateImpl& s = impl_of(view);
  ChosenPolicy chosen;
  chosen.choose(by.policy, by.params);
  std::vector<std::pair<std::string, std::int64_t>> terms;
  return shape_problem_of(s, chosen).objective_value(s, chosen.choice, plan, terms);
}

}  // namespace berth::core
