#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::sim {

/// Statistics of one quantity over jobs: mean (rounded down), and values at ranks ceil(p n / 100) of the n sorted values.
/// 0 where there are no values.
struct Distribution {
  std::int64_t mean = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;
  std::int64_t p95 = 0;  ///< only where it was asked for
};

/// Collects non-negative values. Above `kExact` values, percentiles are less than 1/1000 too small.
/// Values are then counted in 1,024 classes per power of two, so that memory does not grow with their number.
class SpreadOf {
 public:
  static constexpr std::size_t kExact = std::size_t{1} << 20;

  void add(std::int64_t value) {
    if (values_.size() == room_) classify();
    values_.push_back(value);
  }
  /// Must be called before `finish`.
  std::int64_t count() const { return n_ + static_cast<std::int64_t>(values_.size()); }
  Distribution finish(bool with_p95 = false);

 private:
  void classify();
  void count_by_class();
  void sum_up();
  /// Ranks must be requested from the largest to the smallest.
  std::int64_t at_rank(std::int64_t rank);

  std::vector<std::int64_t> values_;  // values that are not counted in classes
  std::size_t room_ = kExact;         // maximum number of them
  std::int64_t n_ = 0, max_ = 0;
  __int128 sum_ = 0;
  std::vector<std::int64_t> classes_;  // number of values in each class; empty: not counted
  std::ptrdiff_t least_ = 0;           // the first N of values_ are no larger than the others
};

}  // namespace berth::sim
