#pragma once

#include <functional>

#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/sim/base/outcome.hpp"
#include "host/sim/replay/settings.hpp"

namespace berth::sim {

/// Replays a trace on a cluster under a policy. It is a client of the live engine: it makes events, decides and applies the plans.
///
/// At one instant completions come first, then events of nodes and jobs, then arrivals in the order of the trace, then one decision.
/// A job runs at the rate of its shape and place where its work is stated, else for `run_us` in total.
/// Changes cost time in which a job has its GPUs and does no work.
/// Jobs that the policy rejects leave with their reason. Jobs that can never start any more are unfinished.
///
/// Where only counts of free GPUs decide which jobs run, no plans are made (`simulate_counts`); the outcomes are the same.
/// @param done  Called for each job once it has ended, in order of the end; for unfinished jobs after the run, by trace order.
/// @throws InvalidArgument for unsorted jobs, unknown names, a round below a second and time slices that are too short (time_slices.hpp);
///         InputError where a job cannot be put into the state.
SimulationTotals simulate(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
                          const std::function<void(const JobOutcome&)>& done);
/// The same for a trace in memory.
SimulationTotals simulate(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings,
                          const std::function<void(const JobOutcome&)>& done);

}  // namespace berth::sim
