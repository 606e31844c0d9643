#pragma once

#include <cstddef>
#include <vector>

namespace berth::core {

/// The mix of columns that is worth most: maximises the sum of x_k where the sum of x_k A_k stays within 1 in every row and x >= 0. The
/// revised simplex method, kept between additions of columns, for few rows (one for each GPU type): doubles of + - * / only, the same on
/// every machine.
class ColumnMix {
 public:
  explicit ColumnMix(std::size_t rows);

  /// @param column  [rows] >= 0, not all 0.
  void add(std::vector<double> column);
  void solve();

  double value() const;
  /// [rows] >= 0, by which every column costs at least 1.
  const std::vector<double>& price() const { return price_; }
  /// [columns] x.
  std::vector<double> weights() const;

 private:
  double gain(std::size_t k) const;
  bool enter(std::size_t variable);
  std::vector<double> direction(std::size_t variable) const;
  void set_prices();

  std::size_t rows_;
  std::vector<std::vector<double>> columns_;
  std::vector<double> inverse_;     // [rows][rows] of the basis
  std::vector<double> level_;       // [rows] of the basic variables
  std::vector<std::size_t> basis_;  // [rows] below `rows`: a slack, else rows + column
  std::vector<double> price_;       // [rows]
};

}  // namespace berth::core
