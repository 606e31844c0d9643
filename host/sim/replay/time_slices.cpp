#include "host/sim/replay/time_slices.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/policy_api/chosen_policy.hpp"

namespace berth::sim {

void check_time_slices(const SimulationSettings& settings) {
  if (settings.decide) return;
  core::ChosenPolicy chosen;
  chosen.choose(settings.request.policy, settings.request.params);
  const TimeUs turn = chosen.policy != nullptr ? chosen.policy->turn() : kNever;
  const auto check = [&](const std::string& model, const ModelOverheads& of) {
    const TimeUs cost = core::migrate_cost(of.costs);
    if (cost < turn) return;
    throw InvalidArgument(
        fmt::format("policy '{}': turns of {} are not longer than the {} that a resumption costs{}: nobody would get anywhere",
                    settings.request.policy, core::seconds_text(turn), core::seconds_text(cost), model));
  };
  check("", settings.overheads.general);
  for (const auto& [model, of] : settings.overheads.models) check(fmt::format(" jobs of the model '{}'", model), of);
}

}  // namespace berth::sim
