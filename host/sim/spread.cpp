#include "host/sim/spread.hpp"

#include <algorithm>
#include <bit>

namespace berth::sim {
namespace {

constexpr int kBits = 10;  // of a class, below the highest
constexpr std::size_t kBatch = 4096;
constexpr std::size_t kClasses = std::size_t{64 - kBits} << kBits;

std::size_t class_of(std::int64_t value) {
  const auto v = static_cast<std::uint64_t>(value);
  const int shift = std::max(0, static_cast<int>(std::bit_width(v)) - kBits - 1);
  return (static_cast<std::size_t>(shift) << kBits) + static_cast<std::size_t>(v >> shift);
}

std::int64_t least_of(std::size_t number) {
  if (number < std::size_t{2} << kBits) return static_cast<std::int64_t>(number);
  const std::size_t shift = (number >> kBits) - 1;
  return static_cast<std::int64_t>((number - (shift << kBits)) << shift);
}

}  // namespace

// Of many values at a time: each job adds to several spreads.
void SpreadOf::sum_up() {
  n_ += static_cast<std::int64_t>(values_.size());
  for (const std::int64_t value : values_) {
    sum_ += value;
    max_ = std::max(max_, value);
  }
}

void SpreadOf::classify() {
  sum_up();
  classes_.resize(kClasses);
  for (const std::int64_t value : values_) ++classes_[class_of(value)];
  std::vector<std::int64_t>().swap(values_);
  room_ = kBatch;
}

std::int64_t SpreadOf::at_rank(std::int64_t rank) {
  if (classes_.empty()) {
    const auto at = values_.begin() + (rank - 1);
    std::nth_element(values_.begin(), at, values_.begin() + least_);
    least_ = rank;
    return *at;
  }
  std::size_t number = 0;
  for (std::int64_t left = rank - classes_[0]; left > 0; left -= classes_[number]) ++number;
  return least_of(number);
}

Spread SpreadOf::finish() {
  Spread spread;
  if (!classes_.empty()) {
    classify();
  } else {
    sum_up();
  }
  if (n_ == 0) return spread;
  least_ = static_cast<std::ptrdiff_t>(values_.size());
  const auto at_percent = [&](std::int64_t p) { return at_rank((p * n_ + 99) / 100); };
  spread.mean = static_cast<std::int64_t>(sum_ / n_);
  spread.p99 = at_percent(99);
  spread.p90 = at_percent(90);
  spread.p50 = at_percent(50);
  spread.max = max_;
  return spread;
}

}  // namespace berth::sim
