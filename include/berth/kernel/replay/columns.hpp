#pragma once

#include <cstdint>

#include "berth/kernel/base/columns.hpp"
#include "berth/kernel/base/wide.hpp"

/// Replays of one trace under a queue policy, by counts of free GPUs: docs/replays.md.
namespace berth::kernel {

/// Jobs of a trace, in the order of their arrival, and what a change costs them. Times are microseconds.
///
/// Jobs of one pool and GPU count wait in one line. Pools are sets of GPUs that no other pool shares.
struct ReplayView {
  std::int32_t n_jobs, n_pools, n_lines;
  const std::int64_t* submit;        // [n_jobs] ascending
  const std::int64_t* run;           // [n_jobs] time with GPUs and without costs, >= 0
  const std::int32_t* line;          // [n_jobs]
  const std::int64_t* start_cost;    // [n_jobs] of the first start
  const std::int64_t* restart_cost;  // [n_jobs] for each time that it was displaced
  const std::int64_t* move_cost;     // [n_jobs] when it is displaced, and placed again in the same decision
  const std::int32_t* line_pool;     // [n_lines] ascending
  const std::int32_t* line_gpus;     // [n_lines] >= 1
  const std::int32_t* line_begin;    // [n_lines + 1] jobs of the lines before
  const std::int32_t* pool_line;     // [n_pools + 1] lines of the pools before
};

/// The key of a job, the least first; among equal keys by arrival.
enum class ReplayKey : std::int32_t {
  kFixed,             // `key`; no job is displaced
  kRemaining,         // remaining run time
  kRemainingService,  // remaining run time x GPUs
  kLevel,             // number of thresholds that the GPU-time has reached
};

/// One replay: a policy with its parameters, run times and estimates, and the size of the cluster.
struct ReplayRequest {
  ReplayKey kind;
  std::int32_t strict;             // 1: a job that finds no room blocks all behind it, in all pools; 0: only itself
  std::int32_t knows_work;         // 1: the remaining run time is the truth, else the estimate less the time with GPUs
  std::int32_t n_thresholds;       // of kLevel
  const std::int64_t* run;         // [n_jobs] null: the view's
  const std::int64_t* estimate;    // [n_jobs] kNever: not known; null where `knows_work`
  const std::int64_t* key;         // [n_jobs] while it has not run; null: 0
  const std::int32_t* job_at;      // [n_jobs] jobs by (line, key, arrival)
  const std::int32_t* position;    // [n_jobs] of a job in `job_at`
  const std::int64_t* capacity;    // [n_pools] GPUs
  const std::int64_t* thresholds;  // [n_thresholds] GPU-microseconds, ascending
};

/// Sums over the jobs of a replay.
struct ReplayTotals {
  Wide jct_us, wait_us, gpu_us;             // of completed jobs: from submission to the end; of that, without GPUs; with GPUs, x GPUs
  std::int64_t last_end, last_release;      // kNever: none
  std::int64_t completed, rejected;         // jobs
  std::int64_t starts, preemptions, moves;  // as JobOutcome counts them
  std::int64_t decisions;                   // instants at which something happened
  std::int32_t too_late;                    // a job that would end beyond the largest time; -1: none
  std::int32_t stopped;                     // 1: the replay was cut short, and these sums mean nothing
};

/// Output columns; the caller provides them. Null columns are not written.
struct ReplayResult {
  ReplayTotals* totals;       // [1] never null
  std::int64_t* start;        // [n_jobs] first start; kNever: rejected
  std::int64_t* end;          // [n_jobs] when it left
  std::int64_t* held;         // [n_jobs] time with GPUs
  std::int64_t* restarting;   // [n_jobs] of that, starting
  std::int64_t* moving;       // [n_jobs] of that, moving
  std::int32_t* starts;       // [n_jobs]
  std::int32_t* preemptions;  // [n_jobs]
  std::int32_t* moves;        // [n_jobs]
};

// for_each_column: see base/columns.hpp. `c` is the problem whose sizes count.

template <class Visit, ViewOf<ReplayView>... Views>
void for_each_column(const ReplayView& c, Visit&& visit, Views&... views) {
  const std::int64_t jobs = c.n_jobs, lines = c.n_lines;
  visit(jobs, views.submit...);
  visit(jobs, views.run...);
  visit(jobs, views.line...);
  visit(jobs, views.start_cost...);
  visit(jobs, views.restart_cost...);
  visit(jobs, views.move_cost...);
  visit(lines, views.line_pool...);
  visit(lines, views.line_gpus...);
  visit(lines + 1, views.line_begin...);
  visit(std::int64_t{c.n_pools} + 1, views.pool_line...);
}
static_assert(sizeof(ReplayView) == 96, "ReplayView changed: list its new columns above, then change this number");

template <class Visit, ViewOf<ReplayRequest>... Views>
void for_each_column(const ReplayView& c, const ReplayRequest& r, Visit&& visit, Views&... views) {
  const std::int64_t jobs = c.n_jobs;
  visit(jobs, views.run...);
  visit(jobs, views.estimate...);
  visit(jobs, views.key...);
  visit(jobs, views.job_at...);
  visit(jobs, views.position...);
  visit(std::int64_t{c.n_pools}, views.capacity...);
  visit(std::int64_t{r.n_thresholds}, views.thresholds...);
}
static_assert(sizeof(ReplayRequest) == 72, "ReplayRequest changed: list its new columns above, then change this number");

template <class Visit, ViewOf<ReplayResult>... Views>
void for_each_column(const ReplayView& c, Visit&& visit, Views&... views) {
  const std::int64_t jobs = c.n_jobs, one = 1;
  visit(one, views.totals...);
  visit(jobs, views.start...);
  visit(jobs, views.end...);
  visit(jobs, views.held...);
  visit(jobs, views.restarting...);
  visit(jobs, views.moving...);
  visit(jobs, views.starts...);
  visit(jobs, views.preemptions...);
  visit(jobs, views.moves...);
}
static_assert(sizeof(ReplayResult) == 72, "ReplayResult changed: list its new columns above, then change this number");

}  // namespace berth::kernel
