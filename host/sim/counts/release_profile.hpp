#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "host/core/base/wide.hpp"
#include "host/sim/counts/counted_job.hpp"

namespace berth::sim {

/// The running jobs of a pool by the instants at which they are predicted to release their GPUs (docs/placement.md, section 7).
/// A change takes O(log n).
///
/// Most instants are fixed. Those of two kinds of jobs move with the time:
/// - A job that has run for longer than predicted is predicted to end at the next microsecond.
/// - A job whose work is known is predicted to need the time of that work, also while it pays for a change and does not work.
class ReleaseProfile {
 public:
  /// A job runs. @param left   Predicted for it, kNever: not known.
  /// @param works_from  From then on the instant is fixed, if it is later than `now`.
  void add(CountedJobs& jobs, std::int32_t job, TimeUs now, TimeUs left, TimeUs works_from);
  void remove(const CountedJobs& jobs, std::int32_t job);
  /// GPUs have come or gone that no job of these releases.
  void touch() { ++version_; }
  /// Number of such changes, and of jobs that were added or removed.
  std::int64_t version() const { return version_; }

  /// Call this before the following, whenever time has passed.
  void advance(CountedJobs& jobs, TimeUs now);
  /// Whether an instant moves.
  bool moves() const { return !overdue_.empty() || !paying_.empty(); }
  /// The instant at which jobs have released as many GPUs, at least. kNever: those that release any are not enough.
  /// @param released  Out: the jobs that release theirs until then, in order.
  TimeUs when(const CountedJobs& jobs, std::int64_t gpus, TimeUs now, std::vector<std::int32_t>& released) const;
  /// The releases in order. @param visit  Called with the instant and job of each, until it returns false.
  template <class Visit>
  void for_each(TimeUs now, const Visit& visit) const {
    auto overdue = overdue_.begin(), fixed = fixed_.begin(), paying = paying_.begin();
    for (;;) {
      constexpr JobPlace kLast{kNever, INT32_MAX, -1};
      const JobPlace first = overdue == overdue_.end() ? kLast : JobPlace{now + 1, overdue->rank, overdue->job};
      const JobPlace second = fixed == fixed_.end() ? kLast : *fixed;
      const JobPlace third = paying == paying_.end() ? kLast : JobPlace{core::saturating_add(now, paying->key), paying->rank, paying->job};
      const JobPlace next = std::min({first, second, third});
      if (next.key == kNever) return;
      if (next.job == first.job) ++overdue;
      if (next.job == second.job) ++fixed;
      if (next.job == third.job) ++paying;
      if (!visit(next.key, next.job)) return;
    }
  }

 private:
  void add_fixed(CountedJobs& jobs, std::int32_t job, TimeUs at);

  std::set<JobPlace> fixed_;    // by instant, rank
  std::set<JobPlace> overdue_;  // by rank: at the next microsecond
  std::set<JobPlace> paying_;   // by time left, rank
  std::set<JobPlace> pays_;     // the same jobs, by the instant at which they work
  std::int64_t version_ = 0;
};

}  // namespace berth::sim
