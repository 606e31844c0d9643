#include "host/sim/replay/time_slices.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/policy_api/chosen_policy.hpp"

namespace berth::sim {

void check_time_slices(const SimulationSettings& settings, TimeUs longest_grace_us) {
  if (settings.decide) return;
  core::ChosenPolicy chosen;
  chosen.choose(settings.request.policy, settings.request.params);
  const TimeUs slice = chosen.policy != nullptr ? chosen.policy->time_slice() : kNever;
  const auto check = [&](const std::string& model, const ModelOverheads& of) {
    const TimeUs cost = core::saturating_add(longest_grace_us, core::migrate_cost(of.costs));
    if (cost < slice) return;
    throw InvalidArgument(
        fmt::format("policy '{}': time slices of {} are not longer than the {} that a resumption costs{}{}: no job would make progress",
                    settings.request.policy, core::seconds_text(slice), core::seconds_text(cost), model,
                    longest_grace_us > 0 ? " with the longest grace_s" : ""));
  };
  check("", settings.overheads.general);
  for (const auto& [model, of] : settings.overheads.models) check(fmt::format(" jobs of the model '{}'", model), of);
}

}  // namespace berth::sim
