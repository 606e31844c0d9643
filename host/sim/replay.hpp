#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/sim/node_pool.hpp"

namespace berth::sim {

struct ReplayRunning {
  std::int32_t job = 0;  ///< index in `Trace::jobs`
  TimeUs start_us = 0;
  TimeUs run_us = 0;            ///< how long it runs there
  std::vector<TakenGpus> gpus;  ///< in the order in which they were taken
};

struct ReplayFinished {
  std::int32_t job = 0;
  TimeUs start_us = 0;
  TimeUs run_us = 0;
};

/// What a first-come-first-served cluster looks like at one instant of a trace.
struct Replay {
  std::vector<ReplayRunning> running;    ///< by job
  std::vector<std::int32_t> waiting;     ///< by job
  std::vector<ReplayFinished> finished;  ///< in order of end, then job
  std::vector<std::int32_t> declined;    ///< by job: submitted, and too large for the empty cluster
  std::int64_t free_gpus = 0;
};

/// Replays the trace on the cluster until `at`: first come first served, head of line, with the placement of NodePool.
///
/// At one instant ends come first, then arrivals by (submit, id), then one decision. At `at` itself ends and arrivals have happened and the
/// decision has not: that one is the caller's. Every virtual cluster that owns nodes has a line of its own, all other jobs share one; a job
/// that does not fit holds up its own line only, and lines are served by the rank of their first jobs. A job that would not fit even on the
/// empty cluster is declined when it is submitted, because it would hold up its line for ever. A job runs with the GPU count it asks for,
/// as long as `TraceForms::run_time` says; nothing fails, and nothing is added for starting.
///
/// @param trace    Jobs by (submit, id), as every importer leaves them.
/// @param at       From the trace's time 0; not negative.
/// @throws InvalidArgument for a negative `at` or unsorted jobs.
/// @complexity O(J log J + starts x nodes of a gang) for the J jobs submitted until `at`.
Replay replay_fifo(const Trace& trace, const Snapshot& cluster, TimeUs at);

/// Where the estimates of a snapshot come from; the name is written into each.
enum class EstimateSource : std::uint8_t {
  kHistoryMean,  ///< "history-mean": see RunHistory
  kNone,         ///< no estimate
  kOracle,       ///< "oracle": the truth, only for those who ask for it
};
/// "history-mean", "none" or "oracle". @throws InvalidArgument for another name.
EstimateSource estimate_source(std::string_view name);
std::string_view name(EstimateSource source);

/// Jobs of a trace, by index, of which its snapshot does not say all.
struct SnapshotAccount {
  std::vector<std::int32_t> declined;    ///< submitted, and too large for the empty cluster
  std::vector<std::int32_t> unmeasured;  ///< in the snapshot without their profile, which knows them on none of the cluster's GPU types
};

/// Rebuilds the snapshot of the instant `at`: the replay's running jobs with their GPUs and progress, its waiting jobs, and its finished
/// jobs as history. Unless `estimates` is kOracle, no run time of a job that is unfinished at `at` has any influence on it.
/// `x_import` says how it came about and how many jobs were declined; declined jobs and jobs not yet submitted are absent.
///
/// @param cluster  Its cluster part is taken over; jobs, history and reservations are not.
/// @param elastic  Whether elastic jobs may run at other GPU counts than the one that they ask for.
/// @param account  Out, unless null.
/// @throws InvalidArgument as `replay_fifo`.
Snapshot snapshot_at(const Trace& trace, const Snapshot& cluster, TimeUs at, EstimateSource estimates = EstimateSource::kHistoryMean,
                     bool elastic = false, SnapshotAccount* account = nullptr);

}  // namespace berth::sim
