#pragma once

#include <span>
#include <vector>

#include "berth/queues.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// As berth::queue_standings.
/// @param rejected  [jobs] 1: a job that waits and can never run; it asks for nothing. Not needed with a whole plan
std::vector<QueueStanding> queue_standings(const StateView& state, const Plan* plan, std::span<const std::uint8_t> rejected = {});

/// Whether some queue states a quota.
bool any_quota(const StateView& state);

}  // namespace berth::core
