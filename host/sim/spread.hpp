#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::sim {

/// Of one quantity over jobs: mean (rounded down), and values at ranks ceil(p n / 100) of the n sorted ones; 0 where there are none.
struct Spread {
  std::int64_t mean = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;
};

/// Gathers the values, none below 0. Of more than `kExact` those of percentiles are less than a thousandth too small: they are counted in
/// 1,024 classes between a power of two and the next, so that memory does not grow with their number.
class SpreadOf {
 public:
  static constexpr std::size_t kExact = std::size_t{1} << 20;

  void add(std::int64_t value) {
    if (values_.size() == room_) classify();
    values_.push_back(value);
  }
  /// Before `finish`.
  std::int64_t count() const { return n_ + static_cast<std::int64_t>(values_.size()); }
  Spread finish();

 private:
  void classify();
  void count_by_class();
  void sum_up();
  /// Ranks are asked for from the largest to the smallest.
  std::int64_t at_rank(std::int64_t rank);

  std::vector<std::int64_t> values_;  // that are not in what follows
  std::size_t room_ = kExact;         // for so many of them
  std::int64_t n_ = 0, max_ = 0;
  __int128 sum_ = 0;
  std::vector<std::int64_t> classes_;  // how many are in each; empty: not counted
  std::ptrdiff_t least_ = 0;           // so many of values_ in front are no larger than the others
};

}  // namespace berth::sim
