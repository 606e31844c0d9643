#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/overheads.hpp"
#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/backend/backend.hpp"
#include "host/sim/base/outcome.hpp"

namespace berth::sim {

/// One of many replays of a trace: a policy on a cluster, with its own estimates and perhaps run times.
struct ReplaySpec {
  std::string policy;
  std::vector<std::pair<std::string, std::string>> params;
  std::string estimates = "oracle";   ///< as `SimulationSettings::estimates`
  std::uint64_t seed = 0;             ///< of `noise:P`
  const Snapshot* cluster = nullptr;  ///< its nodes; jobs of it do not count
  std::span<const TimeUs> run_us;     ///< [jobs] instead of those of the trace; empty: those of the trace
};

/// What became of each job. Columns are [jobs of the trace], empty where they were not asked for. See JobOutcome.
struct ReplayedJobs {
  std::vector<TimeUs> start_us;  ///< first start; kNever: rejected
  std::vector<TimeUs> end_us;    ///< completed or rejected
  std::vector<TimeUs> held_us, restarting_us, moving_us;
  std::vector<std::int32_t> starts, preemptions, moves;
};

struct ReplayOutcome {
  std::string why_not;  ///< why `simulate` has to be asked instead; empty: it was replayed
  SimulationTotals totals;
  std::int64_t completed = 0, rejected = 0, starts = 0, preemptions = 0, moves = 0;
  __int128 jct_us = 0, wait_us = 0;  ///< summed over completed jobs: from submission to the end; of that, without GPUs
  ReplayedJobs jobs;
};

/// Replays one trace many times at once, each as `simulate` does, job by job and microsecond by microsecond
/// (docs/replays.md says which cases these are). Replays are independent: `backend` runs them beside one another.
///
/// @param with_jobs   Fill `ReplayOutcome::jobs`: 52 bytes for each job and replay.
/// @param stop_token  Stops all on the CPU; `interrupted` is set then, and figures mean nothing. null: never.
/// @returns one outcome for each of `specs`
/// @throws InvalidArgument for an unknown policy, parameter or estimates, a trace that is not sorted, run times that are not one
///         for each job, and a job that would end beyond the largest time; what the backend throws.
/// O(replays x jobs x lines), lines being the pairs of a pool and a GPU count that jobs ask for.
std::vector<ReplayOutcome> replay_batch(const Trace& trace, const Overheads& overheads, std::span<const ReplaySpec> specs,
                                        core::PlacementBackend& backend, bool with_jobs, core::StopToken* stop_token = nullptr);

}  // namespace berth::sim
