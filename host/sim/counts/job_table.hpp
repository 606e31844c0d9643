#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/core/base/wide.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/sim/counts/counted_job.hpp"

namespace berth::sim {

/// Columns of many jobs at one instant, for a policy that is asked for all of them at once.
class JobTable {
 public:
  /// @param oracle  See JobKeys.
  void read(const CountedJobs& jobs, std::span<const std::int32_t> of, const core::QueuePolicy& policy, TimeUs now, bool oracle);
  /// Whether jobs run may change after `read`.
  void set_running(const CountedJobs& jobs, std::span<const std::int32_t> of) {
    for (const std::int32_t job : of) running_[to_index(job)] = jobs[job].running ? 1 : 0;
  }
  core::JobColumns columns(std::int64_t cluster_gpus, TimeUs until) const {
    return {submit_.data(),
            priority_.data(),
            gpus_.data(),
            estimate_.data(),
            remaining_.data(),
            attained_.data(),
            deadline_.data(),
            running_.data(),
            id_.data(),
            nullptr,
            assigned_.data(),
            cluster_gpus,
            until};
  }

 private:
  std::vector<TimeUs> submit_, estimate_, remaining_, deadline_, assigned_;
  std::vector<std::int32_t> priority_, gpus_;
  std::vector<std::int64_t> attained_;
  std::vector<std::uint8_t> running_;
  std::vector<const std::string*> id_;
};

inline void JobTable::read(const CountedJobs& jobs, std::span<const std::int32_t> of, const core::QueuePolicy& policy, TimeUs now,
                           bool oracle) {
  const std::size_t n = to_index(jobs.jobs());
  const auto resize = [n](auto&... columns) { (columns.resize(n), ...); };
  resize(submit_, estimate_, remaining_, deadline_, priority_, gpus_, attained_, running_, assigned_, id_);
  for (const std::int32_t j : of) {
    const CountedJob& job = jobs[j];
    const std::size_t row = to_index(j);
    const TimeUs held = job.held_at(now);
    submit_[row] = job.submit;
    priority_[row] = job.priority;
    gpus_[row] = job.gpus;
    estimate_[row] = job.estimate;
    remaining_[row] = job.estimate == kNever ? kNever : std::max<TimeUs>(1, oracle ? job.left_at(now) : job.estimate - held);
    attained_[row] = core::saturating_mul(held, job.gpus);
    deadline_[row] = job.deadline;
    running_[row] = job.running ? 1 : 0;
    assigned_[row] = job.running ? policy.slice_from(job.held_from, now) : kNever;
    id_[row] = &job.traced->id;
  }
}

}  // namespace berth::sim
