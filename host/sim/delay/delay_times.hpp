#pragma once

#include <span>

#include "host/core/policy_api/delay_rule.hpp"
#include "host/sim/delay/delay_replays.hpp"

namespace berth::sim {

/// The timers of a rule without history for classes of demands.
/// @param most_gpus  of each class; a class that spans two demands of the rule has the timers of its largest
DelayTimes times_of(const core::DelayRule& rule, std::span<const std::int64_t> most_gpus, std::int32_t rungs);

}  // namespace berth::sim
