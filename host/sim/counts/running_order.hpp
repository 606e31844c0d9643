#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/sim/counts/counted_job.hpp"
#include "host/sim/counts/job_keys.hpp"

namespace berth::sim {

/// The running jobs of a pool in the order of a policy, read from its end: victims first.
///
/// Keys of running jobs may decrease at any time, and rises are announced (`rises_only_at_changes`).
/// So a job is stored by an earlier key, which is at least its current one.
/// Only jobs that are read are evaluated again and moved to their position.
class RunningOrder {
 public:
  std::size_t size() const { return order_.size(); }
  /// No job is behind this place. The place itself may be vacant.
  JobPlace end() const { return order_.empty() ? kNoJob : order_.back(); }

  /// The job at `from_end` (0: the last) by its key at `now`. The jobs behind it must have been read before.
  const JobPlace& at_end(std::size_t from_end, CountedJobs& jobs, JobKeys& keys, TimeUs now) {
    if (now != exact_at_) {
      exact_at_ = now;
      exact_ = 0;
    }
    while (exact_ <= from_end) {
      const std::size_t place = order_.size() - 1 - exact_;
      if (jobs[order_[place].job].steady) {
        ++exact_;
      } else {
        settle(place, jobs, keys);
      }
    }
    return order_[order_.size() - 1 - from_end];
  }

  /// The last `n` jobs in order, as `at_end` returned them.
  void read_end(std::size_t n, std::vector<JobPlace>& into) const {
    into.assign(order_.end() - static_cast<std::ptrdiff_t>(n), order_.end());
  }

  /// Adds a job that starts to run, by its current key.
  void add(CountedJobs& jobs, const JobPlace& place);
  void remove(CountedJobs& jobs, std::int32_t job);
  /// Updates the key of a job in this order.
  void move(CountedJobs& jobs, const JobPlace& place);
  /// All jobs, in order.
  const std::vector<JobPlace>& all() const { return order_; }
  /// Orders the jobs by other keys. @param keys  [jobs]
  void order_again(CountedJobs& jobs, const std::vector<std::int64_t>& keys);
  /// Replaces the last `n` jobs, as `at_end` returned them, by `kept`.
  void replace_end(std::size_t n, const std::vector<JobPlace>& kept);

 private:
  void settle(std::size_t place, CountedJobs& jobs, JobKeys& keys);
  std::size_t place_of(const CountedJob& job) const;

  std::vector<JobPlace> order_;
  std::size_t exact_ = 0;  // the last N jobs have their keys of exact_at_
  TimeUs exact_at_ = -1;
};

}  // namespace berth::sim
