#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::core {

/// The order of job indices by (key, rank). Few jobs change places between two decisions, so the last order is the
/// start: jobs out of place are removed, sorted and merged back.
class JobOrder {
 public:
  /// Orders these jobs, whatever the previous order contained.
  ///
  /// O(n) where few are out of place, else that of a radix sort; does not allocate once it has seen as many jobs.
  /// @param jobs  Distinct.
  /// @param keys, ranks  [jobs of the state]; ranks are distinct and >= 0.
  void sort(std::span<const std::int32_t> jobs, std::span<const std::int64_t> keys, std::span<const std::int32_t> ranks);

  std::span<const std::int32_t> order() const { return order_; }

 private:
  // Unsigned and biased, so that bytes compare like the numbers.
  struct Row {
    std::uint64_t key;
    std::uint32_t rank;
    std::int32_t job;
  };
  static bool before(const Row& a, const Row& b) { return a.key != b.key ? a.key < b.key : a.rank < b.rank; }
  void keep_or_take_out(const Row& row);
  void sort_rows();
  void merge();

  std::vector<std::int32_t> order_;
  std::vector<std::uint8_t> mark_;  // by job index; all 0 between calls
  std::vector<Row> kept_;           // ascending
  std::vector<Row> rows_, spare_;   // the others
};

}  // namespace berth::core
