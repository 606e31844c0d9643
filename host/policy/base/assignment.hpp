#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::policy {

/// The cheapest assignment of rows to columns, each row to its own column (Kuhn 1955).
/// Computed by shortest augmenting paths (Tomizawa 1971; Edmonds and Karp 1972). Keeps its memory between calls.
///
/// O(rows^2 x columns). Exact; among several cheapest assignments the order of rows and columns alone decides.
class Assignment {
 public:
  static constexpr std::int64_t kNoEdge = -1;
  static constexpr std::int64_t kMostCost = std::int64_t{1} << 48;
  static constexpr std::int32_t kMostRows = 1024;  ///< a path with this number of edges fits in 64 bits

  /// @param cost  [rows][columns] 0 .. kMostCost, or kNoEdge; every row must be assignable
  /// @returns [rows] the column
  std::span<const std::int32_t> solve(std::int32_t rows, std::int32_t columns, std::span<const std::int64_t> cost);

 private:
  void look_from(std::int32_t row, std::int64_t length);
  std::int32_t nearest() const;

  std::int32_t columns_ = 0;
  std::span<const std::int64_t> cost_;
  std::vector<std::int32_t> column_of_, row_of_;  // -1: none
  std::vector<std::int64_t> of_row_,
      of_column_;  // potentials: no edge costs less than their sum, and the edges of the assignment cost exactly their sum
  std::vector<std::int64_t> length_;   // [columns] of the shortest path so far, in reduced costs
  std::vector<std::int32_t> before_;   // [columns] the row before the column on that path
  std::vector<std::uint8_t> reached_;  // [columns] the path is known to be the shortest
};

}  // namespace berth::policy
