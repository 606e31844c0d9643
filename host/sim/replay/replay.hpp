#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/sim/base/node_pool.hpp"

namespace berth::sim {

struct ReplayRunning {
  std::int32_t job = 0;  ///< index in `Trace::jobs`
  TimeUs start_us = 0;
  TimeUs run_us = 0;             ///< its run time there
  std::vector<PooledGpus> gpus;  ///< in the order in which they were taken
};

struct ReplayFinished {
  std::int32_t job = 0;
  TimeUs start_us = 0;
  TimeUs run_us = 0;
};

/// The state of a first-come-first-served cluster at one instant of a trace.
struct Replay {
  std::vector<ReplayRunning> running;    ///< by job
  std::vector<std::int32_t> waiting;     ///< by job
  std::vector<ReplayFinished> finished;  ///< in order of end, then job
  std::vector<std::int32_t> rejected;    ///< by job: submitted, but too large for the empty cluster
  std::int64_t free_gpus = 0;
};

/// Replays the trace on the cluster until `at`: first come first served, head of line, with the placement of NodePool.
///
/// At one instant ends come first, then arrivals by (submit, id), then one decision. At `at` the caller makes the decision.
/// Every virtual cluster with its own nodes has its own line; all other jobs share one.
/// A job that does not fit blocks only its line. Lines are served by the rank of their first jobs.
/// A job that does not fit on the empty cluster is rejected on submission, because it would block its line forever.
/// A job runs with its requested GPU count for `TraceForms::run_time`. There are no failures and no start costs.
///
/// @param trace    Jobs by (submit, id), as every importer leaves them.
/// @param at       From the trace's time 0; not negative.
/// @throws InvalidArgument for a negative `at`, unsorted jobs and jobs that state shapes or groups.
/// @complexity O(J log J + starts x nodes of a gang) for the J jobs submitted until `at`.
Replay replay_fifo(const Trace& trace, const Snapshot& cluster, TimeUs at);

/// The source of estimates in a snapshot; each estimate has its name.
enum class EstimateSource : std::uint8_t {
  kHistoryMean,  ///< "history-mean": see RunHistory
  kNone,         ///< no estimate
  kOracle,       ///< "oracle": the truth, only on request
};
/// "history-mean", "none" or "oracle". @throws InvalidArgument for any other name.
EstimateSource estimate_source(std::string_view name);
std::string_view name(EstimateSource source);

/// Jobs of a trace, by index, that its snapshot does not fully represent.
struct SnapshotAccount {
  std::vector<std::int32_t> rejected;    ///< submitted, but too large for the empty cluster
  std::vector<std::int32_t> unmeasured;  ///< in the snapshot without their profile, which has none of the cluster's GPU types
};

/// Rebuilds the snapshot of the instant `at`.
/// It has the replay's running jobs with GPUs and progress, its waiting jobs, and its finished jobs as history.
/// Unless `estimates` is kOracle, no run time of a job that is unfinished at `at` has any influence on it.
/// `x_import` describes its origin and the number of rejected jobs. Rejected jobs and jobs not yet submitted are absent.
///
/// @param cluster  Its cluster part is used; jobs, history and reservations are not.
/// @param elastic  Whether elastic jobs may run at other GPU counts than the requested one.
/// @param account  Out, unless null.
/// @throws InvalidArgument as `replay_fifo`.
Snapshot snapshot_at(const Trace& trace, const Snapshot& cluster, TimeUs at, EstimateSource estimates = EstimateSource::kHistoryMean,
                     bool elastic = false, SnapshotAccount* account = nullptr);

}  // namespace berth::sim
