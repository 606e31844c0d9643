#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/sim/counted_job.hpp"
#include "host/sim/job_keys.hpp"

namespace berth::sim {

/// The running jobs of a pool in the order of a policy, to be read from its end: those that give way first.
///
/// Keys of running jobs may fall all the time, and say when they rise (`rises_only_at_changes`). So each job stands by a key that it
/// once had, which is no less than the one it has now; only those that are looked at are asked again, and put in their place.
class RunningOrder {
 public:
  std::size_t size() const { return order_.size(); }
  /// Certainly nobody stands behind this place; perhaps nobody stands there.
  JobPlace end() const { return order_.empty() ? kNobody : order_.back(); }

  /// The job at `from_end`, 0: the last, by its key of `now`. Those behind it have been asked for before.
  const JobPlace& at_end(std::size_t from_end, CountedJobs& jobs, JobKeys& keys, TimeUs now) {
    if (now != exact_at_) {
      exact_at_ = now;
      exact_ = 0;
    }
    while (exact_ <= from_end) {
      const std::size_t place = order_.size() - 1 - exact_;
      if (jobs[order_[place].slot].steady) {
        ++exact_;
      } else {
        settle(place, jobs, keys);
      }
    }
    return order_[order_.size() - 1 - from_end];
  }

  /// The last `n`, as `at_end` gave them, in order.
  void read_end(std::size_t n, std::vector<JobPlace>& into) const {
    into.assign(order_.end() - static_cast<std::ptrdiff_t>(n), order_.end());
  }

  /// A job that starts to run, by its key of now.
  void add(CountedJobs& jobs, const JobPlace& place);
  void remove(CountedJobs& jobs, std::int32_t slot);
  /// A job that stands here has another key now.
  void move(CountedJobs& jobs, const JobPlace& place);
  /// The last `n`, as `at_end` gave them, are those of `kept` now.
  void replace_end(std::size_t n, const std::vector<JobPlace>& kept);

 private:
  void settle(std::size_t place, CountedJobs& jobs, JobKeys& keys);
  std::size_t place_of(const CountedJob& job) const;

  std::vector<JobPlace> order_;
  std::size_t exact_ = 0;  // so many at the end stand by their keys of exact_at_
  TimeUs exact_at_ = -1;
};

}  // namespace berth::sim
