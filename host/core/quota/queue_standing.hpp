#pragma once

#include <vector>

#include "berth/queues.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// As berth::queue_standings.
std::vector<QueueStanding> queue_standings(const StateView& state, const Plan* plan);

/// Whether some queue states a quota.
bool any_quota(const StateView& state);

}  // namespace berth::core
