#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/events.hpp"
#include "berth/overheads.hpp"
#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/sim/failure_rates.hpp"
#include "host/sim/iterations.hpp"
#include "host/sim/job_source.hpp"
#include "host/sim/spread.hpp"

namespace berth::sim {

class Series;

/// What GPU-time goes to in which a job has its GPUs and does no work.
enum class Loss : std::uint8_t {
  kRestart,     ///< starting, and starting again after a preemption or a failure
  kMove,        ///< migrations and resizes
  kCheckpoint,  ///< saving while it runs
  kStalled,     ///< without all of its GPUs, until somebody decided
  kUndone,      ///< work that a failure undid
  kIdle,        ///< where iterations are followed: its part of its GPUs, less its computing in whole iterations
};
inline constexpr int kLosses = 6;
inline constexpr const char* kLossNames[kLosses] = {"restart", "move", "checkpoint", "stalled", "undone", "idle"};
/// A waiting job that a policy from outside does not want to run, ever.
struct TurnedAway {
  std::int32_t job = -1;  ///< slot
  std::string why;
};

/// Decides in place of the engine: fills in a valid plan of the state, and who is turned away: they wait in the plan, and leave.
using Decider = std::function<void(const ClusterState& state, Plan& plan, std::vector<TurnedAway>& away)>;

/// Jobs followed through each iteration (docs/simulation.md, "Iterations").
struct IterationSettings {
  std::int32_t gpu_jobs = 1;  ///< at most so many share a GPU; above 1 with a `decide` that places them
  NetworkCost network;
  IterationRules rules;
};

/// How a simulation is run; docs/simulation.md says what each means.
struct SimulationSettings {
  Request request;                              ///< policy, its parameters, seed, backend
  std::string estimates = "oracle";             ///< see Estimator
  std::string progress = "epochs";              ///< see ProgressReports
  Overheads overheads;                          ///< see overheads.hpp
  ClusterEvents events;                         ///< what happens whatever the policy does
  FailureRates failures;                        ///< and what happens at random, by the request's seed
  TimeUs round_us = 0;                          ///< > 0: decisions are made at its multiples only
  bool events_too = false;                      ///< with rounds: decisions are made at events, too
  bool elastic = false;                         ///< elastic jobs may run at every GPU count that was measured
  bool name_nodes = false;                      ///< outcomes say on which nodes a job was
  std::optional<IterationSettings> iterations;  ///< empty: jobs work at the rate of their shape and place
  Decider decide;                               ///< empty: the engine decides, by `request`
  std::function<bool()> interrupted;            ///< true: stop, and keep what is done; empty: never
  Series* series = nullptr;                     ///< told what holds from each instant on; null: nobody
};

/// How a job went. Instants are those of the trace.
struct JobOutcome {
  enum class End : std::uint8_t { kCompleted, kDeclined, kUnfinished, kKilled };

  std::int32_t job = 0;              ///< its place in the trace
  const TraceJob* traced = nullptr;  ///< only during the call that tells of it
  End end = End::kUnfinished;
  TimeUs submit_us = 0;
  TimeUs start_us = kNever;                     ///< first start
  TimeUs end_us = kNever;                       ///< completed, declined or killed
  TimeUs held_us = 0;                           ///< time for which it had GPUs
  TimeUs overhead_us = 0;                       ///< of it, time that changes cost
  __int128 live_us = 0;                         ///< jobs that were there, itself too, summed over the time until it ended
  __int128 gpu_us = 0;                          ///< GPU-time that it had
  std::array<__int128, kLosses> lost_gpu_us{};  ///< of it, without work that lasted
  std::int32_t starts = 0;                      ///< first start and resumptions
  std::int32_t preemptions = 0;                 ///< times that it lost its GPUs
  std::int32_t moves = 0;                       ///< migrations and resizes
  std::int32_t failures = 0;                    ///< times that it lost what it had not saved, or GPUs
  std::int32_t mends = 0;                       ///< of them, times that it went on with GPUs in their place
  std::string reason;                           ///< of a declined job
  std::string nodes;                            ///< that it had at its end, in rank order, blanks between
  TimeUs jct_us() const { return end_us - submit_us; }
  TimeUs waited_us() const { return jct_us() - held_us; }
};

inline constexpr const char* kEndNames[] = {"completed", "declined", "unfinished", "killed"};

/// What a run came to beside its jobs.
struct SimulationTotals {
  TimeUs first_submit_us = 0;
  TimeUs last_end_us = 0;      ///< the last completion or kill; of an interrupted run the instant at which it stopped
  TimeUs last_release_us = 0;  ///< when a job gave GPUs back for the last time
  std::int64_t gpus = 0;       ///< of the cluster that had not failed at the beginning
  __int128 gpu_us = 0;         ///< GPU-time that jobs had
  __int128 gpu_up_us = 0;      ///< GPU-time that was there from the first submission to the last release: of GPUs that had not failed
  std::int64_t failures = 0;   ///< of nodes and GPUs
  std::int64_t decisions = 0;
  bool interrupted = false;
  Spread decision_ns;  ///< how long decisions took; by counts it is not taken
};

/// What is replayed.
struct Replayed {
  const TraceProfiles& profiles;
  TraceFacts facts;
  JobSource& jobs;
};

/// Replays a trace on a cluster under a policy: a client of the live engine, which makes events, decides and carries the plans out.
///
/// At one instant completions come first, then what happens to nodes and jobs, then arrivals in the order of the trace, then one decision.
/// A job runs at the rate of its shape and place where its work is stated, else for `run_us` in all; what changes cost is time in which it
/// has its GPUs and does no work. Jobs that the policy declines leave with their reason. Jobs that nothing will start any more are
/// unfinished.
///
/// Where counts of free GPUs are all that decides who runs, no plans are made (`simulate_counts`); the outcomes are the same.
/// @param done  Called for each job once it has ended, in order of the end; after the run for those unfinished, by trace order.
/// @throws InvalidArgument for unsorted jobs, unknown names, a round below a second and turns too short (turns.hpp); InputError where a job
/// cannot be put into the state.
SimulationTotals simulate(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
                          const std::function<void(const JobOutcome&)>& done);
/// The same of a trace in memory.
SimulationTotals simulate(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings,
                          const std::function<void(const JobOutcome&)>& done);

/// The same with a plan for each decision, always.
SimulationTotals simulate_by_engine(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
                                    const std::function<void(const JobOutcome&)>& done);

}  // namespace berth::sim
