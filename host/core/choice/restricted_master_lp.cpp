#include "host/core/choice/restricted_master_lp.hpp"

namespace berth::core {
namespace {

constexpr double kLittle = 1e-12;

}  // namespace

void RestrictedMasterLp::begin(std::size_t rows) {
  rows_ = rows;
  columns_.clear();
  inverse_.assign(rows * rows, 0.0);
  level_.assign(rows, 1.0);
  price_.assign(rows, 0.0);
  basis_.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    inverse_[r * rows + r] = 1.0;
    basis_[r] = r;
  }
}

void RestrictedMasterLp::add(std::span<const double> column) { columns_.insert(columns_.end(), column.begin(), column.end()); }

// Value of one unit of a column beyond its price.
double RestrictedMasterLp::gain(std::size_t column) const {
  double cost = 0;
  for (std::size_t r = 0; r < rows_; ++r) cost += price_[r] * columns_[column * rows_ + r];
  return 1.0 - cost;
}

void RestrictedMasterLp::set_direction(std::size_t variable) {
  direction_.assign(rows_, 0.0);
  for (std::size_t r = 0; r < rows_; ++r) {
    if (variable < rows_) {
      direction_[r] = inverse_[r * rows_ + variable];
      continue;
    }
    for (std::size_t i = 0; i < rows_; ++i) direction_[r] += inverse_[r * rows_ + i] * columns_[(variable - rows_) * rows_ + i];
  }
}

// Ties are broken by the lower variable.
bool RestrictedMasterLp::enter(std::size_t variable) {
  set_direction(variable);
  const std::vector<double>& d = direction_;
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

void RestrictedMasterLp::set_prices() {
  for (std::size_t i = 0; i < rows_; ++i) {
    price_[i] = 0;
    for (std::size_t r = 0; r < rows_; ++r) {
      if (basis_[r] >= rows_) price_[i] += inverse_[r * rows_ + i];
    }
  }
}

// Far fewer pivots are enough, as one column is new; the limit guards against cycling.
void RestrictedMasterLp::solve() {
  const std::size_t most = 50 * (rows_ + 1);
  for (std::size_t pivots = 0; pivots < most; ++pivots) {
    double best = 1e-10;
    std::size_t in = rows_ + columns();
    for (std::size_t r = 0; r < rows_; ++r) {
      if (-price_[r] <= best) continue;
      best = -price_[r];
      in = r;
    }
    for (std::size_t k = 0; k < columns(); ++k) {
      const double more = gain(k);
      if (more <= best) continue;
      best = more;
      in = rows_ + k;
    }
    if (in == rows_ + columns() || !enter(in)) return;
  }
}

double RestrictedMasterLp::value() const {
  double sum = 0;
  for (std::size_t r = 0; r < rows_; ++r) sum += basis_[r] >= rows_ ? level_[r] : 0.0;
  return sum;
}

double RestrictedMasterLp::weight(std::size_t column) const {
  for (std::size_t r = 0; r < rows_; ++r) {
    if (basis_[r] == rows_ + column) return level_[r];
  }
  return 0;
}

}  // namespace berth::core
