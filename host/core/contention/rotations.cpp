#include "host/core/contention/rotations.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>

#include "host/core/base/wide.hpp"

namespace berth::core {
namespace {

constexpr std::int64_t kFinestGridNs = 1'000;
constexpr int kMostRounds = 10;

using Circle = std::array<std::int64_t, kAngles>;  // bytes per second at each angle

std::int64_t repeats_of(const UnifiedCircle& circle, std::size_t gang) { return circle.perimeter_ns / circle.period_ns[gang]; }

// A gang's traffic, shifted by `shift_ns` and `angles`.
Circle drawn(const PeriodicTraffic& gang, const UnifiedCircle& circle, std::size_t index, std::int64_t shift_ns) {
  const std::int64_t period = circle.period_ns[index];
  Circle out{};
  for (std::int64_t i = 0; i < kAngles; ++i) {
    if (repeats_of(circle, index) > kMostRepeats) {
      out[static_cast<std::size_t>(i)] = mul_div(gang.bytes_per_s, gang.burst_ns, gang.period_ns);
      continue;
    }
    const Wide whole = Wide{period} * kAngles;
    Wide phase = (Wide{i} * circle.perimeter_ns - Wide{shift_ns} * kAngles) % whole;
    if (phase < 0) phase += whole;
    if (phase < Wide{gang.burst_ns} * kAngles) out[static_cast<std::size_t>(i)] = gang.bytes_per_s;
  }
  return out;
}

void add_rotated(Circle& sum, const Circle& one, std::size_t angle, std::int64_t sign) {
  for (std::size_t i = 0; i < kAngles; ++i) sum[(i + angle) % kAngles] += sign * one[i];
}

Wide excess_of(const Circle& sum, std::int64_t capacity) {
  Wide excess = 0;
  for (const std::int64_t here : sum) excess += std::max<std::int64_t>(0, here - capacity);
  return excess;
}

std::int64_t score_of(Wide excess, std::int64_t capacity) {
  const Wide whole = Wide{capacity} * kAngles;
  return 1'000'000 - saturate((2 * excess * 1'000'000 + whole) / (2 * whole));
}

// Angles of a period, rounded up: further rotations repeat these.
std::size_t angles_of(const UnifiedCircle& circle, std::size_t gang) {
  const std::int64_t repeats = repeats_of(circle, gang);
  return repeats > kMostRepeats ? 1 : static_cast<std::size_t>((kAngles + repeats - 1) / repeats);
}

class RotationSearch {
 public:
  RotationSearch(std::vector<Circle> circles, std::vector<std::size_t> angles, std::int64_t capacity)
      : circles_(std::move(circles)), angles_(std::move(angles)), capacity_(capacity), at_(circles_.size(), 0), best_(at_) {}

  void try_all(std::size_t gang) {
    if (gang == circles_.size()) {
      const Wide excess = excess_of(sum_, capacity_);
      if (least_ >= 0 && excess >= least_) return;
      least_ = excess;
      best_ = at_;
      return;
    }
    for (at_[gang] = 0; at_[gang] < angles_[gang] && least_ != 0; ++at_[gang]) {
      add_rotated(sum_, circles_[gang], at_[gang], 1);
      try_all(gang + 1);
      add_rotated(sum_, circles_[gang], at_[gang], -1);
      if (gang == 0) return;
    }
  }
  void descend() {
    for (std::size_t gang = 0; gang < circles_.size(); ++gang) place(gang);
    for (int round = 0; round < kMostRounds; ++round) {
      const std::vector<std::size_t> before = best_;
      for (std::size_t gang = 1; gang < circles_.size(); ++gang) {
        add_rotated(sum_, circles_[gang], best_[gang], -1);
        place(gang);
      }
      if (best_ == before) break;
    }
    least_ = excess_of(sum_, capacity_);
  }
  const std::vector<std::size_t>& best() const { return best_; }
  Wide least() const { return least_; }

 private:
  // At its best angle next to those that are there; the one before stays where no other is better.
  void place(std::size_t gang) {
    Wide least = -1;
    std::size_t best = 0;
    for (std::size_t k = 0; k < (gang == 0 ? 1 : angles_[gang]); ++k) {
      const std::size_t angle = (best_[gang] + k) % angles_[gang];
      Circle sum = sum_;
      add_rotated(sum, circles_[gang], angle, 1);
      const Wide excess = excess_of(sum, capacity_);
      if (least >= 0 && excess >= least) continue;
      least = excess;
      best = angle;
    }
    best_[gang] = best;
    add_rotated(sum_, circles_[gang], best, 1);
  }

  std::vector<Circle> circles_;
  std::vector<std::size_t> angles_;
  std::int64_t capacity_;
  std::vector<std::size_t> at_, best_;
  Circle sum_{};
  Wide least_ = -1;  // excess; -1: none tried
};

}  // namespace

UnifiedCircle unified_circle(std::span<const PeriodicTraffic> gangs) {
  UnifiedCircle circle;
  for (std::int64_t grid = kFinestGridNs;; grid += grid / 8) {
    std::int64_t longest = 1;
    Wide perimeter = 1;
    std::vector<std::int64_t> steps;
    for (const PeriodicTraffic& gang : gangs) {
      assert(gang.period_ns > 0 && gang.period_ns <= kMostPeriodNs);
      steps.push_back(std::max<std::int64_t>(1, (2 * gang.period_ns + grid) / (2 * grid)));  // at most 10^12
      longest = std::max(longest, steps.back());
    }
    for (const std::int64_t one : steps) {
      if (perimeter > Wide{kMostTurns} * longest) break;
      perimeter *= one / std::gcd(static_cast<std::int64_t>(perimeter), one);
    }
    if (perimeter > Wide{kMostTurns} * longest) continue;
    circle.grid_ns = grid;
    circle.perimeter_ns = static_cast<std::int64_t>(perimeter) * grid;
    for (const std::int64_t one : steps) circle.period_ns.push_back(one * grid);
    return circle;
  }
}

std::int64_t compatibility_ppm(std::span<const PeriodicTraffic> gangs, std::span<const std::int64_t> shift_ns, std::int64_t bytes_per_s) {
  const UnifiedCircle circle = unified_circle(gangs);
  Circle sum{};
  for (std::size_t j = 0; j < gangs.size(); ++j) add_rotated(sum, drawn(gangs[j], circle, j, shift_ns[j]), 0, 1);
  return score_of(excess_of(sum, bytes_per_s), bytes_per_s);
}

BestRotations best_rotations(std::span<const PeriodicTraffic> gangs, std::int64_t bytes_per_s) {
  BestRotations best;
  best.circle = unified_circle(gangs);
  best.shift_ns.assign(gangs.size(), 0);
  best.unshifted_ppm = compatibility_ppm(gangs, best.shift_ns, bytes_per_s);
  std::vector<Circle> circles;
  std::vector<std::size_t> angles;
  std::int64_t combinations = 1;
  for (std::size_t j = 0; j < gangs.size(); ++j) {
    circles.push_back(drawn(gangs[j], best.circle, j, 0));
    angles.push_back(angles_of(best.circle, j));
    if (j > 0) combinations = std::min<std::int64_t>(kMostCombinations + 1, combinations * static_cast<std::int64_t>(angles.back()));
  }
  best.exhaustive = combinations <= kMostCombinations;
  RotationSearch search(std::move(circles), std::move(angles), bytes_per_s);
  if (best.exhaustive) {
    search.try_all(0);
  } else {
    search.descend();
  }
  best.score_ppm = score_of(search.least(), bytes_per_s);
  for (std::size_t j = 0; j < gangs.size(); ++j) {
    const std::int64_t shift = mul_div(best.circle.perimeter_ns, static_cast<std::int64_t>(search.best()[j]), kAngles);
    best.shift_ns[j] = shift % best.circle.period_ns[j];
  }
  return best;
}

}  // namespace berth::core
