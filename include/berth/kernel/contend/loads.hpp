#pragma once

#include <cstdint>

#include "berth/kernel/base/group.hpp"
#include "berth/kernel/base/host_device.hpp"
#include "berth/kernel/contend/columns.hpp"

namespace berth::kernel {

/// Loads of links as jobs come and go: a job that starts, ends or moves changes only the links of its row.
/// @param load  [n_links] In and out.
/// @param n     Entries of the row.
BERTH_HD inline void add_row(std::int64_t* load, const std::int32_t* link, const std::uint16_t* use, std::int32_t n) {
  for (std::int32_t i = 0; i < n; ++i) load[link[i]] += use[i];
}

BERTH_HD inline void remove_row(std::int64_t* load, const std::int32_t* link, const std::uint16_t* use, std::int32_t n) {
  for (std::int32_t i = 0; i < n; ++i) load[link[i]] -= use[i];
}

BERTH_HD inline std::int32_t excluded_job(const ContendRequest& request, std::int32_t candidate) {
  return request.excluded == nullptr ? -1 : request.excluded[candidate];
}

/// Uses of one running job, for links that are asked in ascending order.
class UsesOfJob {
 public:
  /// @param job  -1: none, and every use is 0.
  BERTH_HD UsesOfJob(const ContendView& problem, std::int32_t job)
      : problem_(&problem), at_(job < 0 ? 0 : problem.job_begin[job]), end_(job < 0 ? 0 : problem.job_begin[job + 1]) {}
  BERTH_HD std::uint16_t of(std::int32_t link) {
    while (at_ < end_ && problem_->job_link[at_] < link) ++at_;
    return at_ < end_ && problem_->job_link[at_] == link ? problem_->job_use[at_] : std::uint16_t{0};
  }

 private:
  const ContendView* problem_;
  std::int32_t at_, end_;
};

/// Group body: the loads of a candidate's links after it is placed.
/// @param load  [n_links] of the running jobs
template <class Group>
BERTH_HD void contend_loads(Group& group, const ContendView& problem, const std::int64_t* load, const ContendRequest& request,
                            std::int32_t candidate, const ContendResult& result) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;  // makes signed loads compare as unsigned words
  UsesOfJob excluded(problem, excluded_job(request, candidate));
  std::int64_t sum = 0, most = INT64_MIN, overload = 0, failed = 0, used = 0;
  for (std::int32_t at = request.begin[candidate] + group.rank(); at < request.begin[candidate + 1]; at += group.size()) {
    if (request.use[at] == 0) continue;
    const std::int32_t link = request.link[at];
    const std::int64_t after = load[link] + request.use[at] - excluded.of(link);
    const std::int64_t capacity = problem.capacity == nullptr ? kUseOne : problem.capacity[link];
    sum += after;
    most = after > most ? after : most;
    overload += after > capacity ? after - capacity : 0;
    failed += capacity == 0 ? 1 : 0;
    ++used;
  }
  sum = group.sum(sum);
  overload = group.sum(overload);
  failed = group.sum(failed);
  used = group.sum(used);
  most = static_cast<std::int64_t>(~group.min({~(static_cast<std::uint64_t>(most) ^ kSign), 0}).hi ^ kSign);
  if (group.rank() != 0) return;
  if (result.load_sum != nullptr) result.load_sum[candidate] = sum;
  if (result.load_max != nullptr) result.load_max[candidate] = used == 0 ? 0 : most;
  if (result.overload != nullptr) result.overload[candidate] = overload;
  if (result.failed != nullptr) result.failed[candidate] = static_cast<std::int32_t>(failed);
}

}  // namespace berth::kernel
