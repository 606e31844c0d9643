#pragma once

#include <cstdint>

#include "berth/kernel/base/columns.hpp"
#include "berth/kernel/base/wide.hpp"

/// Replays of one trace under `dally-manual`, each with its own timers: docs/dally.md, "Timers by simulation".
namespace berth::kernel {

/// Jobs in the order of their arrival, and the cluster. Times are microseconds, work is in millionths of a unit.
///
/// Jobs are gangs of whole GPUs. Nodes stand by rank, so that the nodes of a domain are a range. Each node is in a named domain of
/// every level of the one topology. Level 0 is the node, the last level the cluster. Domains are numbered level by level, from level 1.
struct DelayReplayView {
  std::int32_t n_jobs, n_nodes, n_levels, n_domains, n_inner, n_rungs, n_classes;
  std::int32_t node_gpus;           // the most GPUs of a node
  std::int64_t n_rates;             // rows of `rate`
  const std::int64_t* submit;       // [n_jobs] ascending
  const std::int64_t* work;         // [n_jobs] >= 0
  const std::int64_t* ideal_rate;   // [n_jobs] millionths of a unit per second without communication; 0: not known
  const std::int64_t* start_cost;   // [n_jobs] of the first start
  const std::int64_t* resume_cost;  // [n_jobs] of a start after it was displaced
  const std::int64_t* move_cost;    // [n_jobs] where it is displaced, and placed elsewhere in the same decision
  const std::int64_t* rate_begin;   // [n_jobs] in `rate`: first row of the job, see rate_row
  const std::int32_t* gpus;         // [n_jobs] >= 1
  const std::int32_t* timer_class;  // [n_jobs] whose timers are its own
  const std::int64_t* rate;         // [n_rates] >= 1
  const std::uint64_t* gpu_mask;    // [n_nodes] GPUs of the node
  const std::int32_t* inner_begin;  // [n_nodes + 1] ranges of `inner_mask`
  const std::uint64_t* inner_mask;  // [n_inner] GPUs of each inner group, sorted by lowest index
  const std::int32_t* level_begin;  // [n_levels + 1] domains of level l: [level_begin[l], level_begin[l + 1]); none at level 0
  const std::int32_t* node_domain;  // [n_levels * n_nodes] domain of (level, node); row 0 is unused
  const std::int32_t* child_first;  // [n_domains] its domains one level lower, at level 1 its nodes
  const std::int32_t* child_last;   // [n_domains]
  const std::int32_t* rung_level;   // [n_rungs] levels for which jobs wait, ascending
  const std::int64_t* rung_gpus;    // [n_rungs] the most GPUs of a domain there
};

/// Row of a job's rate in one domain of `level`, on this number of nodes, the fullest of which has `most` of its GPUs.
BERTH_HD inline std::int64_t rate_row(const DelayReplayView& v, std::int32_t gpus, std::int32_t level, std::int32_t nodes,
                                      std::int32_t most) {
  if (level == 0) return 0;
  const std::int64_t n = gpus < v.n_nodes ? gpus : v.n_nodes, m = gpus < v.node_gpus ? gpus : v.node_gpus;
  return 1 + (std::int64_t{level - 1} * n + nodes - 1) * m + most - 1;
}
/// Rows of a job.
BERTH_HD inline std::int64_t rate_rows(const DelayReplayView& v, std::int32_t gpus) {
  const std::int64_t n = gpus < v.n_nodes ? gpus : v.n_nodes, m = gpus < v.node_gpus ? gpus : v.node_gpus;
  return 1 + std::int64_t{v.n_levels - 1} * n * m;
}

/// One replay.
struct DelayReplayRequest {
  std::int64_t lease;           // >= 1
  std::int64_t most_decisions;  // a replay ends after this number; 0: no limit
  std::int32_t common;          // 1: leases end together, at multiples of `lease`
  const std::int64_t* timers;   // [n_classes * n_rungs] how long a job waits for a domain of each rung; INT64_MAX: for ever
};

/// Sums over the jobs of a replay.
struct DelayReplayTotals {
  Wide jct_us, wait_us, gpu_us, paid_gpu_us;  // of completed jobs; `paid`: for starts and moves, of `gpu_us`
  std::int64_t last_end;                      // INT64_MAX: no job has ended
  std::int64_t completed, rejected;           // jobs
  std::int64_t starts, preemptions, moves;
  std::int64_t decisions;
  std::int32_t too_late;  // a job that would end beyond the largest time; -1: none
  std::int32_t stopped;   // 1: the replay was cut short, and these sums mean little
};

/// Output columns; the caller provides them. Null columns are not written.
struct DelayReplayResult {
  DelayReplayTotals* totals;  // [1] never null
  std::int64_t* start;        // [n_jobs] first start; INT64_MAX: none
  std::int64_t* end;          // [n_jobs] INT64_MAX: it has not ended
  std::int64_t* held;         // [n_jobs] time with GPUs
  std::int64_t* paid;         // [n_jobs] of that, starting and moving
  std::int32_t* starts;       // [n_jobs]
  std::int32_t* preemptions;  // [n_jobs]
  std::int32_t* moves;        // [n_jobs]
};

// for_each_column: see base/columns.hpp. `c` is the problem whose sizes count.

template <class Visit, ViewOf<DelayReplayView>... Views>
void for_each_column(const DelayReplayView& c, Visit&& visit, Views&... views) {
  const std::int64_t jobs = c.n_jobs, nodes = c.n_nodes, domains = c.n_domains, rungs = c.n_rungs;
  visit(jobs, views.submit...);
  visit(jobs, views.work...);
  visit(jobs, views.ideal_rate...);
  visit(jobs, views.start_cost...);
  visit(jobs, views.resume_cost...);
  visit(jobs, views.move_cost...);
  visit(jobs, views.rate_begin...);
  visit(jobs, views.gpus...);
  visit(jobs, views.timer_class...);
  visit(c.n_rates, views.rate...);
  visit(nodes, views.gpu_mask...);
  visit(nodes + 1, views.inner_begin...);
  visit(std::int64_t{c.n_inner}, views.inner_mask...);
  visit(std::int64_t{c.n_levels} + 1, views.level_begin...);
  visit(c.n_levels * nodes, views.node_domain...);
  visit(domains, views.child_first...);
  visit(domains, views.child_last...);
  visit(rungs, views.rung_level...);
  visit(rungs, views.rung_gpus...);
}
static_assert(sizeof(DelayReplayView) == 192, "DelayReplayView changed: list its new columns above, then change this number");

template <class Visit, ViewOf<DelayReplayRequest>... Views>
void for_each_column(const DelayReplayView& c, const DelayReplayRequest&, Visit&& visit, Views&... views) {
  visit(std::int64_t{c.n_classes} * c.n_rungs, views.timers...);
}
static_assert(sizeof(DelayReplayRequest) == 32, "DelayReplayRequest changed: list its new columns above, then change this number");

template <class Visit, ViewOf<DelayReplayResult>... Views>
void for_each_column(const DelayReplayView& c, Visit&& visit, Views&... views) {
  const std::int64_t jobs = c.n_jobs, one = 1;
  visit(one, views.totals...);
  visit(jobs, views.start...);
  visit(jobs, views.end...);
  visit(jobs, views.held...);
  visit(jobs, views.paid...);
  visit(jobs, views.starts...);
  visit(jobs, views.preemptions...);
  visit(jobs, views.moves...);
}
static_assert(sizeof(DelayReplayResult) == 64, "DelayReplayResult changed: list its new columns above, then change this number");

}  // namespace berth::kernel
