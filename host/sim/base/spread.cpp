#include "host/sim/base/spread.hpp"

#include <algorithm>
#include <bit>

namespace berth::sim {
namespace {

constexpr int kBits = 10;  // bits of a class below the highest bit
constexpr std::size_t kBatch = 4096;
constexpr std::size_t kMany = 16'384;  // number of values from which counting them by class is cheaper
constexpr std::size_t kClasses = std::size_t{64 - kBits} << kBits;

std::size_t class_of(std::int64_t value) {
  const auto v = static_cast<std::uint64_t>(value);
  const int shift = std::max(0, static_cast<int>(std::bit_width(v)) - kBits - 1);
  return (static_cast<std::size_t>(shift) << kBits) + static_cast<std::size_t>(v >> shift);
}

int shift_of(std::size_t number) { return number < std::size_t{2} << kBits ? 0 : static_cast<int>(number >> kBits) - 1; }

/// Values of a class without their lowest `shift_of` bits.
std::int64_t head_of(std::size_t number) {
  return static_cast<std::int64_t>(number - (static_cast<std::size_t>(shift_of(number)) << kBits));
}

}  // namespace

// Processes many values at a time, because each job adds to several spreads.
void SpreadOf::sum_up() {
  n_ += static_cast<std::int64_t>(values_.size());
  for (const std::int64_t value : values_) {
    sum_ += value;
    max_ = std::max(max_, value);
  }
}

void SpreadOf::count_by_class() {
  classes_.resize(kClasses);
  for (const std::int64_t value : values_) ++classes_[class_of(value)];
}

void SpreadOf::classify() {
  sum_up();
  count_by_class();
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
  for (; rank > classes_[number]; ++number) rank -= classes_[number];
  const int shift = shift_of(number);
  if (values_.empty() || shift == 0) return head_of(number) << shift;
  std::vector<std::int64_t> own(static_cast<std::size_t>(classes_[number]));
  std::copy_if(values_.begin(), values_.end(), own.begin(), [&](std::int64_t value) { return value >> shift == head_of(number); });
  std::nth_element(own.begin(), own.begin() + (rank - 1), own.end());
  return own[static_cast<std::size_t>(rank - 1)];
}

Distribution SpreadOf::finish(bool with_p95) {
  Distribution spread;
  if (!classes_.empty()) {
    classify();
  } else {
    sum_up();
    if (values_.size() >= kMany) count_by_class();
  }
  if (n_ == 0) return spread;
  least_ = static_cast<std::ptrdiff_t>(values_.size());
  const auto at_percent = [&](std::int64_t p) { return at_rank((p * n_ + 99) / 100); };
  spread.mean = static_cast<std::int64_t>(sum_ / n_);
  spread.p99 = at_percent(99);
  if (with_p95) spread.p95 = at_percent(95);
  spread.p90 = at_percent(90);
  spread.p50 = at_percent(50);
  spread.max = max_;
  return spread;
}

}  // namespace berth::sim
