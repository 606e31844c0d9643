#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/core/base/shares.hpp"

namespace berth::core {

/// The cost of shares at given prices: for each job the lower convex hull of (speed, cost). Levels here are fractions
/// of the highest level, in (0, 1]. Memory is kept between problems.
class CostHull {
 public:
  void begin(const ShareProblem& problem);

  bool any() const { return !jobs_.empty(); }
  /// The highest level of the job that can rise least, in the problem's unit; it is 1 here.
  double highest() const { return highest_; }

  /// @param price  [types] of all GPUs of the type.
  void set(const std::vector<double>& price);

  /// The highest level, not above `from`, that costs at most 1.
  double level(double from) const;

  /// Calls visit(job, type, part of the time) for the cheapest shares that bring every job to a level.
  template <class Visit>
  void at_level(double z, const Visit& visit) const {
    for (const Job& job : jobs_) {
      const double speed = job.need * z / (1 - job.waited * z);
      const Corner& to = corners_[above(job, speed)];
      const Corner& from = (&to)[-1];
      const double part = std::min(1.0, (speed - from.speed) / (to.speed - from.speed));
      visit(job.job, to.type, part);
      if (from.type >= 0) visit(job.job, from.type, 1 - part);
    }
  }

 private:
  struct Corner {
    double speed, cost;
    std::int32_t type;  // -1: it waits
  };
  struct Job {
    std::int32_t job;
    double need, waited;                 // at a level relative to the highest; waited < 1
    std::size_t types_begin, types_end;  // in by_speed_
    std::size_t first, last;             // in corners_
  };

  bool below(std::size_t first, const Corner& next) const;
  std::size_t above(const Job& job, double speed) const;

  const ShareProblem* problem_ = nullptr;
  std::size_t n_types_ = 0;
  std::vector<std::int32_t> by_speed_;
  std::vector<Job> jobs_;
  std::vector<Corner> corners_;
  double highest_ = 0;
};

}  // namespace berth::core
