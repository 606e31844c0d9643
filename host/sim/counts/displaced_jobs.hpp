#pragma once

#include <cstddef>
#include <vector>

#include "host/sim/counts/count_run.hpp"

namespace berth::sim {

/// The jobs that lose their GPUs in one decision (docs/placement.md, section 6, step 5), in the order of the policy.
class DisplacedJobs {
 public:
  explicit DisplacedJobs(CountRun& run) : run_(run) {}

  /// A decision begins: none is displaced.
  void begin() {
    jobs_.clear();
    next_ = 0;
  }
  std::size_t size() const { return jobs_.size(); }
  const JobPlace& operator[](std::size_t i) const { return jobs_[i]; }
  /// Number of those that have been tried in vain.
  std::size_t tried() const { return next_; }
  /// The first that has not been tried; null: none. Valid until any of the following calls.
  const JobPlace* next() const { return next_ < jobs_.size() ? &jobs_[next_] : nullptr; }
  void next_is_tried() { ++next_; }
  /// One that has not been tried has got GPUs, and runs on them.
  void move(std::size_t i);

  /// Gives GPUs to a job before all that have not been tried, by displacing jobs behind it. @returns false where those are not enough.
  bool displace_for(const JobPlace& first);
  /// First of the jobs that were displaced last.
  const JobPlace& foremost() const { return foremost_; }

 private:
  CountRun& run_;
  std::vector<JobPlace> jobs_;
  std::size_t next_ = 0;
  std::vector<JobPlace> victims_, kept_;
  JobPlace foremost_{};
};

}  // namespace berth::sim
