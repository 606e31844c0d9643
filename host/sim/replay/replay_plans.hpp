#pragma once

#include <functional>

#include "berth/snapshot.hpp"
#include "host/sim/base/outcome.hpp"
#include "host/sim/replay/settings.hpp"

namespace berth::sim {

/// `simulate` with a plan for every decision.
SimulationTotals replay_plans(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
                              const std::function<void(const JobOutcome&)>& done);

}  // namespace berth::sim
