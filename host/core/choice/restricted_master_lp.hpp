#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace berth::core {

/// The mix of columns with the highest value: maximises the sum of x_k where the sum of x_k A_k stays within 1 in every
/// row and x >= 0. Revised simplex method, kept between additions of columns, for few rows (one per GPU type). It uses
/// doubles with + - * / only, so the result is the same on every machine. Memory is kept between problems.
class RestrictedMasterLp {
 public:
  /// Starts without columns.
  void begin(std::size_t rows);

  /// @param column  [rows] >= 0, not all 0.
  void add(std::span<const double> column);
  void solve();

  double value() const;
  /// [rows] >= 0, at which every column costs at least 1.
  std::span<const double> price() const { return price_; }
  /// x of a column.
  double weight(std::size_t column) const;

 private:
  std::size_t columns() const { return rows_ == 0 ? 0 : columns_.size() / rows_; }
  double gain(std::size_t column) const;
  void set_direction(std::size_t variable);
  bool enter(std::size_t variable);
  void set_prices();

  std::size_t rows_ = 0;
  std::vector<double> columns_;            // [columns][rows]
  std::vector<double> inverse_;            // [rows][rows] of the basis
  std::vector<double> level_;              // [rows] of the basic variables
  std::vector<std::size_t> basis_;         // [rows] below `rows`: a slack, else rows + column
  std::vector<double> price_, direction_;  // [rows]
};

}  // namespace berth::core
