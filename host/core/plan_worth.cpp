#include "host/core/plan_worth.hpp"

#include <string>
#include <utility>
#include <vector>

#include "host/core/choice_look.hpp"
#include "host/core/state_impl.hpp"

namespace berth::core {

std::int64_t worth_by(const StateImpl& s, const Plan& plan, const Plan& by) {
  ChosenPolicy chosen;
  chosen.choose(by.policy, by.params);
  std::vector<std::pair<std::string, std::int64_t>> terms;
  return look_at_choice(s, chosen).worth_of(s, chosen.choice, plan, terms);
}

}  // namespace berth::core
