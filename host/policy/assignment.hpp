#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::policy {

/// The cheapest assignment of rows to columns, each row to one column of its own (Kuhn 1955; by shortest augmenting paths, as Tomizawa 1971
/// and Edmonds and Karp 1972). Memory is kept between calls.
///
/// O(rows^2 x columns). Exact; which of several cheapest ones depends on the order of rows and columns only.
class Assignment {
 public:
  static constexpr std::int64_t kNoEdge = -1;
  static constexpr std::int64_t kMostCost = std::int64_t{1} << 48;
  static constexpr std::int32_t kMostRows = 1024;  ///< a path of so many edges fits in 64 bits

  /// @param cost  [rows][columns] from 0 to kMostCost, or kNoEdge; such that every row can be assigned
  /// @returns [rows] the column
  std::span<const std::int32_t> solve(std::int32_t rows, std::int32_t columns, std::span<const std::int64_t> cost);

 private:
  void look_from(std::int32_t row, std::int64_t length);
  std::int32_t nearest() const;

  std::int32_t columns_ = 0;
  std::span<const std::int64_t> cost_;
  std::vector<std::int32_t> column_of_, row_of_;  // -1: none
  std::vector<std::int64_t> of_row_, of_column_;  // potentials: no edge costs less than their sum, those of the assignment as much
  std::vector<std::int64_t> length_;              // [columns] of the shortest path so far, in reduced costs
  std::vector<std::int32_t> before_;              // [columns] the row before the column on it
  std::vector<std::uint8_t> reached_;             // [columns] that path is the shortest
};

}  // namespace berth::policy
