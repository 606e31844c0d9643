#pragma once

#include <functional>
#include <optional>

#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/sim/base/outcome.hpp"
#include "host/sim/replay/settings.hpp"

namespace berth::sim {

/// The simulation of `simulate` for cases where only counts of free GPUs decide which jobs run. These cases are:
/// - queue policies with discipline `strict`, `greedy` or `easy`, any packing but `consolidate`;
/// - those that displace no jobs with discipline `conservative` and the same packings;
/// - jobs of one flat shape; virtual clusters and GPU types that share no nodes.
/// It has the same policies, order of events, outcomes and GPUs. It is fast because it makes no plan.
/// A displaced job that fits again in the same decision counts as moved.
///
/// @returns nothing when something else matters too: `simulate` then runs instead. This is decided before the first call of `done`.
std::optional<SimulationTotals> simulate_counts(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
                                                const std::function<void(const JobOutcome&)>& done);

}  // namespace berth::sim
