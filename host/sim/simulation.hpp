#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/snapshot.hpp"
#include "berth/trace.hpp"

namespace berth::sim {

/// A waiting job that a policy from outside does not want to run, ever.
struct TurnedAway {
  std::int32_t job = -1;  ///< slot
  std::string why;
};

/// Decides in place of the engine: fills in a valid plan of the state, and who is turned away: they wait in the plan, and leave.
using Decider = std::function<void(const ClusterState& state, Plan& plan, std::vector<TurnedAway>& away)>;

/// How a simulation is run; docs/simulation.md says what each means.
struct SimulationSettings {
  Request request;                    ///< policy, its parameters, seed, backend
  std::string estimates = "oracle";   ///< see Estimator
  std::string overheads = "none";     ///< see overheads.hpp
  TimeUs round_us = 0;                ///< > 0: decisions are made at its multiples only
  bool elastic = false;               ///< elastic jobs may run at every GPU count that was measured
  Decider decide;                     ///< empty: the engine decides, by `request`
  std::function<bool()> interrupted;  ///< true: stop, and keep what is done; empty: never
};

/// How a job went. Instants are those of the trace.
struct JobOutcome {
  enum class End : std::uint8_t { kCompleted, kDeclined, kUnfinished };

  std::int32_t job = 0;  ///< index in Trace::jobs
  End end = End::kUnfinished;
  TimeUs submit_us = 0;
  TimeUs start_us = kNever;      ///< first start
  TimeUs end_us = kNever;        ///< completed, or declined
  TimeUs held_us = 0;            ///< time for which it had GPUs
  TimeUs overhead_us = 0;        ///< of it, time that changes cost
  __int128 gpu_us = 0;           ///< GPU-time that it had
  std::int32_t starts = 0;       ///< first start and resumptions
  std::int32_t preemptions = 0;  ///< times that it lost its GPUs
  std::int32_t moves = 0;        ///< migrations and resizes
  std::string reason;            ///< of a declined job
  TimeUs jct_us() const { return end_us - submit_us; }
  TimeUs waited_us() const { return jct_us() - held_us; }
};

/// What a run came to beside its jobs.
struct SimulationTotals {
  TimeUs first_submit_us = 0;
  TimeUs last_end_us = 0;
  std::int64_t gpus = 0;  ///< of the cluster that work
  __int128 gpu_us = 0;    ///< GPU-time that jobs had
  std::int64_t decisions = 0;
  bool interrupted = false;
  std::vector<double> decision_s;  ///< of each decision
};

/// Replays a trace on a cluster under a policy: a client of the live engine, which makes events, decides and carries the plans out.
///
/// At one instant completions come first, then arrivals in the order of the trace, then one decision. A job runs at the rate of its shape
/// and place where its work is stated, else for `run_us` in all; what changes cost is time in which it has its GPUs and does no work. Jobs
/// that the policy declines leave with their reason. Jobs that nothing will start any more are unfinished.
///
/// @param done  Called for each job once it has ended, in order of the end; after the run for those unfinished, by trace order.
/// @throws InvalidArgument for unsorted jobs and unknown names; InputError where a job cannot be put into the state.
/// Where counts of free GPUs are all that decides, no plans are made (`simulate_counts`); the outcomes are the same.
SimulationTotals simulate(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings,
                          const std::function<void(const JobOutcome&)>& done);

/// The same with a plan for each decision, always.
SimulationTotals simulate_by_engine(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings,
                                    const std::function<void(const JobOutcome&)>& done);

}  // namespace berth::sim
