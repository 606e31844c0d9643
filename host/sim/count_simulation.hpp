#pragma once

#include <functional>
#include <optional>

#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/sim/simulation.hpp"

namespace berth::sim {

/// The simulation of `simulate` where nothing but counts of free GPUs decides who runs: queue policies with discipline `hol` or `skip`,
/// packing `count` or `topology`, jobs of one flat shape, and virtual clusters and GPU types that share no nodes. Same policies, same order
/// of events, same outcomes, on the same GPUs; and fast, as no plan is made. A displaced job that finds room again in the same decision has
/// moved.
///
/// @returns nothing when something else decides, too: `simulate` answers then. Asked before `done` is called for the first time.
std::optional<SimulationTotals> simulate_counts(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
                                                const std::function<void(const JobOutcome&)>& done);

}  // namespace berth::sim
