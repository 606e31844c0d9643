#include "host/core/column_mix.hpp"

#include <utility>

namespace berth::core {
namespace {

constexpr double kLittle = 1e-12;

}  // namespace

ColumnMix::ColumnMix(std::size_t rows) : rows_(rows), inverse_(rows * rows, 0.0), level_(rows, 1.0), basis_(rows), price_(rows, 0.0) {
  for (std::size_t r = 0; r < rows; ++r) {
    inverse_[r * rows + r] = 1.0;
    basis_[r] = r;
  }
}

void ColumnMix::add(std::vector<double> column) { columns_.push_back(std::move(column)); }

// What one unit of a column is worth beyond its price.
double ColumnMix::gain(std::size_t k) const {
  double cost = 0;
  for (std::size_t r = 0; r < rows_; ++r) cost += price_[r] * columns_[k][r];
  return 1.0 - cost;
}

std::vector<double> ColumnMix::direction(std::size_t variable) const {
  std::vector<double> d(rows_, 0.0);
  for (std::size_t r = 0; r < rows_; ++r) {
    if (variable < rows_) {
      d[r] = inverse_[r * rows_ + variable];
      continue;
    }
    for (std::size_t i = 0; i < rows_; ++i) d[r] += inverse_[r * rows_ + i] * columns_[variable - rows_][i];
  }
  return d;
}

// Ties leave by the lower variable, so that no basis comes back for long.
bool ColumnMix::enter(std::size_t variable) {
  const std::vector<double> d = direction(variable);
  std::size_t out = rows_;
  for (std::size_t r = 0; r < rows_; ++r) {
    if (d[r] <= kLittle) continue;
    if (out == rows_) {
      out = r;
      continue;
    }
    const double here = level_[r] * d[out], there = level_[out] * d[r];
    if (here < there || (here == there && basis_[r] < basis_[out])) out = r;
  }
  if (out == rows_) return false;
  const double step = level_[out] / d[out];
  for (std::size_t i = 0; i < rows_; ++i) inverse_[out * rows_ + i] /= d[out];
  for (std::size_t r = 0; r < rows_; ++r) {
    if (r == out) continue;
    level_[r] -= step * d[r];
    if (level_[r] < 0) level_[r] = 0;
    for (std::size_t i = 0; i < rows_; ++i) inverse_[r * rows_ + i] -= d[r] * inverse_[out * rows_ + i];
  }
  level_[out] = step;
  basis_[out] = variable;
  set_prices();
  return true;
}

void ColumnMix::set_prices() {
  for (std::size_t i = 0; i < rows_; ++i) {
    price_[i] = 0;
    for (std::size_t r = 0; r < rows_; ++r) {
      if (basis_[r] >= rows_) price_[i] += inverse_[r * rows_ + i];
    }
  }
}

void ColumnMix::solve() {
  const std::size_t most = 50 * (rows_ + 1);
  for (std::size_t pivots = 0; pivots < most; ++pivots) {
    double best = 1e-10;
    std::size_t in = rows_ + columns_.size();
    for (std::size_t r = 0; r < rows_; ++r) {
      if (-price_[r] <= best) continue;
      best = -price_[r];
      in = r;
    }
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const double more = gain(k);
      if (more <= best) continue;
      best = more;
      in = rows_ + k;
    }
    if (in == rows_ + columns_.size() || !enter(in)) return;
  }
}

double ColumnMix::value() const {
  double sum = 0;
  for (std::size_t r = 0; r < rows_; ++r) sum += basis_[r] >= rows_ ? level_[r] : 0.0;
  return sum;
}

std::vector<double> ColumnMix::weights() const {
  std::vector<double> x(columns_.size(), 0.0);
  for (std::size_t r = 0; r < rows_; ++r) {
    if (basis_[r] >= rows_) x[basis_[r] - rows_] = level_[r];
  }
  return x;
}

}  // namespace berth::core
