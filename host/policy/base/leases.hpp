#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/policy/base/job_column.hpp"

namespace berth::policy {

/// Leases of running jobs. A job that gets GPUs has them for `lease`; a lease that has ended begins again with the decision in which the
/// job keeps them. Kept in the column `lease_from_us`, with rows of jobs whose lease began again.
class Leases {
 public:
  /// @param common  all leases end together, at the multiples of `lease`
  Leases(TimeUs lease, bool common) : lease_(lease), common_(common) {}

  TimeUs length() const { return lease_; }
  /// Finds the leases of the running jobs, for a policy that `reads_cluster`.
  void begin(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices) {
    for (const std::int32_t job : job_indices) {
      if (from_.size() <= to_index(job)) {
        from_.resize(to_index(job) + 1);
        ended_.resize(to_index(job) + 1);
      }
      TimeUs& from = from_[to_index(job)];
      from = kNever;
      ended_[to_index(job)] = 0;
      if (jobs.running[job] == 0) continue;
      const TimeUs assigned = jobs.assigned[job] == kNever ? -1 : jobs.assigned[job];
      // In its first lease a job has no row yet.
      const bool first = assigned >= 0 && assigned <= now && end_of(assigned) > now;
      from = first ? assigned : std::max(kept_.get(*jobs.id[job], -1), assigned);
      // An instant that is unknown or in the future comes from the caller: such a lease has ended.
      if (from >= 0 && from <= now && end_of(from) > now) continue;
      from = now;
      ended_[to_index(job)] = 1;
      kept_.set(*jobs.id[job], now);
    }
  }
  /// Of a running job of the last `begin`.
  bool ended(std::int32_t job) const { return ended_[to_index(job)] != 0; }
  /// End of the lease of a job that runs then, also of one that starts now.
  TimeUs end(std::int32_t job, TimeUs now) const {
    return end_of(to_index(job) < from_.size() && from_[to_index(job)] != kNever ? from_[to_index(job)] : now);
  }
  /// QueuePolicy::slice_from.
  TimeUs slice_from(TimeUs assigned, TimeUs now) const {
    const TimeUs origin = common_ ? 0 : assigned;
    return std::max(assigned, origin + (now - 1 - origin) / lease_ * lease_);
  }
  void load(const PolicyState& state) { kept_.load(state); }
  void store(PolicyState& state) const { kept_.store(state); }
  void retain(PolicyState& state, const core::LiveJobs& live) const { kept_.retain(state, live); }

 private:
  TimeUs end_of(TimeUs from) const { return core::saturating_add(common_ ? from / lease_ * lease_ : from, lease_); }

  TimeUs lease_;
  bool common_;
  std::vector<TimeUs> from_;         // [jobs] of the running jobs; kNever: none
  std::vector<std::uint8_t> ended_;  // [jobs] 1: runs, and its lease has ended
  JobColumn kept_{"lease_from_us"};
};

}  // namespace berth::policy
