#pragma once

#include <cstdint>

#include "berth/kernel/base/columns.hpp"

/// Jobs that share links, and what a placement adds to the links: docs/contention.md.
namespace berth::kernel {

/// 1.0 of uses, loads, capacities and weights of links.
inline constexpr std::int32_t kUseOne = 1 << 14;
/// Largest use of a link by one job; greater ones are this.
inline constexpr std::int32_t kMostUse = UINT16_MAX;
inline constexpr std::int64_t kMostLinkLoad = std::int64_t{1} << 45;
inline constexpr std::int32_t kMostContendJobs = 1 << 29;
/// Largest k of the jobs that a candidate contends with most.
inline constexpr std::int32_t kMostContendTop = 64;
/// With more links than this a dense product is not used.
inline constexpr std::int32_t kMostDenseLinks = 512;

/// Links, and the running jobs as sparse rows: the links of each, ascending, and the part of time that it needs each.
struct ContendView {
  std::int32_t n_links, n_jobs;
  const std::int64_t* capacity;    // [n_links] of each, 0: failed; null: kUseOne each
  const std::int64_t* load;        // [n_links] sum of the uses of running jobs, kept by the caller (loads.hpp); null: it is computed
  const std::int32_t* weight;      // [n_links] 0..kUseOne, of a link in products of pairs; null: kUseOne each
  const std::int32_t* job_begin;   // [n_jobs + 1] entries of the jobs before
  const std::int32_t* job_link;    // [entries] ascending for each job
  const std::uint16_t* job_use;    // [entries]
  const std::int32_t* job_weight;  // [n_jobs] >= 0, of a job in sums of pairs, such as its GPUs; null: 1 each
};

/// How pairs are multiplied. It does not change the answer.
enum class ContendMethod : std::int32_t {
  kAuto,
  kSparse,  // over the jobs of each link of a candidate
  kDense,   // every candidate with every job; with more than kMostDenseLinks links `kSparse`
};

/// Candidate placements as sparse rows, like those of running jobs.
struct ContendRequest {
  std::int32_t n;
  std::int32_t k;      // 0..kMostContendTop jobs for each candidate
  std::int32_t limbs;  // 1: seven bits of the weighted use; 2: fourteen
  ContendMethod method;
  const std::int32_t* begin;     // [n + 1]
  const std::int32_t* link;      // [entries] ascending for each candidate
  const std::uint16_t* use;      // [entries]
  const std::int32_t* excluded;  // [n] the running job that the candidate replaces, -1: none; null: none for all
};

/// Output columns; the caller provides them. Null columns are not written, and not computed.
struct ContendResult {
  std::int64_t* load;        // [n_links] sum of the uses of running jobs
  std::int64_t* load_sum;    // [n] over the links that the candidate uses: loads after it is placed
  std::int64_t* load_max;    // [n] 0: it uses no link
  std::int64_t* overload;    // [n] sum of max(0, load - capacity)
  std::int32_t* failed;      // [n] links of capacity 0 that it uses
  std::int32_t* top_value;   // [n * k] largest values first, then the job that comes first; 0: no more jobs share a link
  std::int32_t* top_job;     // [n * k] -1: none
  std::int64_t* pair_sum;    // [n] sum of value x weight over all jobs
  std::int32_t* pair_value;  // [n * n_jobs]
};

// for_each_column: see base/columns.hpp. `c` and `r` are those whose sizes count; their columns are on the host.

template <class Visit, ViewOf<ContendView>... Views>
void for_each_column(const ContendView& c, Visit&& visit, Views&... views) {
  const std::int64_t links = c.n_links, jobs = c.n_jobs, entries = c.job_begin[c.n_jobs];
  visit(links, views.capacity...);
  visit(links, views.load...);
  visit(links, views.weight...);
  visit(jobs + 1, views.job_begin...);
  visit(entries, views.job_link...);
  visit(entries, views.job_use...);
  visit(jobs, views.job_weight...);
}
static_assert(sizeof(ContendView) == 64, "ContendView changed: list its new columns above, then change this number");

template <class Visit, ViewOf<ContendRequest>... Views>
void for_each_column(const ContendRequest& r, Visit&& visit, Views&... views) {
  const std::int64_t n = r.n, entries = r.begin[r.n];
  visit(n + 1, views.begin...);
  visit(entries, views.link...);
  visit(entries, views.use...);
  visit(n, views.excluded...);
}
static_assert(sizeof(ContendRequest) == 48, "ContendRequest changed: list its new columns above, then change this number");

template <class Visit, ViewOf<ContendResult>... Views>
void for_each_column(const ContendView& c, const ContendRequest& r, Visit&& visit, Views&... views) {
  const std::int64_t n = r.n, top = n * r.k;
  visit(std::int64_t{c.n_links}, views.load...);
  visit(n, views.load_sum...);
  visit(n, views.load_max...);
  visit(n, views.overload...);
  visit(n, views.failed...);
  visit(top, views.top_value...);
  visit(top, views.top_job...);
  visit(n, views.pair_sum...);
  visit(n * c.n_jobs, views.pair_value...);
}
static_assert(sizeof(ContendResult) == 72, "ContendResult changed: list its new columns above, then change this number");

}  // namespace berth::kernel
