#include "host/sim/replay/needless_decisions.hpp"

#include <algorithm>

#include "host/core/policy_api/chosen_policy.hpp"

namespace berth::sim {

NeedlessDecisions::NeedlessDecisions(const SimulationSettings& settings) {
  if (settings.decide) return;
  core::ChosenPolicy chosen;
  chosen.choose(settings.request.policy, settings.request.params);
  if (chosen.policy != nullptr) {
    const core::QueuePolicy& policy = *chosen.policy;
    const bool keeps_nothing = policy.follows_from_columns() || (policy.rests_while_waiting() && policy.rises_only_at_changes());
    orders_ = keeps_nothing && policy.time_slice() == kNever;
  } else {
    prices_ = chosen.shapes == nullptr && chosen.choice.search.population == 0;
  }
}

// At prices of 0 each job takes its shape, as its value is above 0. Then there are GPUs for all, and prices stay 0.
bool NeedlessDecisions::where_none_waits(const StateView& state, const PolicyState& kept) const {
  if (orders_) return true;
  return prices_ && !state.any_several_shapes() && !kept.policy.empty() &&
         std::all_of(kept.scalars.begin(), kept.scalars.end(), [](const auto& price) { return price.second == 0; });
}

}  // namespace berth::sim
