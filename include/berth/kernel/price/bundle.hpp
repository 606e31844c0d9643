#pragma once

#include "berth/kernel/price/state.hpp"

/// The next prices of a search by the proximal bundle method in integers: docs/prices.md section 4. One thread runs it.
namespace berth::kernel {

inline constexpr std::int32_t kPriceBits = 30;   // U
inline constexpr std::int32_t kWeightBits = 20;  // A, and the unit of the step
inline constexpr std::int64_t kPriceUnit = std::int64_t{1} << kPriceBits;
inline constexpr std::int64_t kLongStep = std::int64_t{1} << 22;
inline constexpr std::int64_t kWeightUnit = std::int64_t{1} << kWeightBits;

BERTH_HD inline std::int64_t within(std::int64_t v, std::int64_t least, std::int64_t most) {
  return v < least ? least : v > most ? most : v;
}

BERTH_HD inline void set_gradient(const PriceView& c, const PriceBundle& b, const PricePoint& at, PriceCut& cut) {
  constexpr Wide kMost = std::int64_t{1} << 40;
  for (std::int32_t t = 0; t < c.n_types; ++t) {
    const Wide g = floor_div_near(Wide{c.capacity[t] - at.used[t]} * b.scale * kPriceUnit, b.first);
    cut.gradient[t] = static_cast<std::int64_t>(g < -kMost ? -kMost : g > kMost ? kMost : g);
  }
}

BERTH_HD inline void begin_bundle(const PriceView& c, const PricePoint& centre, std::int64_t top, bool warm, PriceBundle& b) {
  b.scale = top >> 16;
  if (b.scale < 1) b.scale = 1;
  std::int64_t capacity = 0;
  for (std::int32_t t = 0; t < c.n_types; ++t) {
    b.scale = centre.price[t] > b.scale ? centre.price[t] : b.scale;
    capacity += c.capacity[t];
    b.last[t] = -1;
  }
  b.first = centre.bound > 1 ? centre.bound : 1;
  const std::int64_t each = b.first / (capacity > 0 ? capacity : 1);
  b.scale = each > b.scale ? each : b.scale;
  b.step = std::int64_t{1} << (warm ? 16 : 18);
  b.n = 1;
  b.cut[0].error = 0;
  b.cut[0].weight = kWeightUnit;
  set_gradient(c, b, centre, b.cut[0]);
}

/// Sum of m_t G_t in units U.
BERTH_HD inline std::int64_t along(const PriceView& c, const PriceBundle& b, const PriceCut& cut) {
  Wide sum = 0;
  for (std::int32_t t = 0; t < c.n_types; ++t) sum += Wide{b.move[t]} * cut.gradient[t];
  return saturate(sum >> kPriceBits);
}

/// Sets moves and slopes from the current weights. @returns the sum of the slopes times their weights.
BERTH_HD inline Wide set_slopes(const PriceView& c, const PricePoint& centre, PriceBundle& b) {
  for (std::int32_t t = 0; t < c.n_types; ++t) {
    Wide sum = 0;
    for (std::int32_t k = 0; k < b.n; ++k) sum += Wide{b.cut[k].weight} * b.cut[k].gradient[t];
    const Wide z = (Wide{b.step} * (sum >> kWeightBits)) >> kWeightBits;
    const Wide x = floor_div_near(Wide{centre.price[t]} * kPriceUnit, b.scale);  // a price is never below 0
    b.open[t] = z < x;
    b.move[t] = static_cast<std::int64_t>(z < x ? z : x);
  }
  Wide sum = 0;  // not in a loop of its own: unrolled for compute_100 and later, it crashes nvcc 13.0
  for (std::int32_t k = 0; k < b.n; ++k) {
    b.slope[k] = saturating_add(b.cut[k].error, along(c, b, b.cut[k]));
    sum += Wide{b.cut[k].weight} * b.slope[k];
  }
  return sum;
}

BERTH_HD inline void set_weights(const PriceView& c, const PricePoint& centre, PriceBundle& b) {
  for (std::int32_t round = 0; round < 256; ++round) {
    set_slopes(c, centre, b);
    std::int32_t i = -1, j = 0;
    for (std::int32_t k = 0; k < b.n; ++k) {
      if (b.cut[k].weight > 0 && (i < 0 || b.slope[k] > b.slope[i])) i = k;
      if (b.slope[k] < b.slope[j]) j = k;
    }
    const Wide difference = Wide{b.slope[i]} - b.slope[j];
    if (difference <= 64) break;
    Wide squares = 0;
    for (std::int32_t t = 0; t < c.n_types; ++t) {
      const Wide g = b.open[t] ? b.cut[j].gradient[t] - b.cut[i].gradient[t] : 0;
      squares += g * g;
    }
    squares >>= kPriceBits;
    std::int64_t shift = b.cut[i].weight;
    const Wide wanted = difference << (2 * kWeightBits), each = b.step * squares;
    if (wanted < each * shift) {
      shift = static_cast<std::int64_t>(floor_div_near(wanted, each));
      if (shift < 1) break;  // too small to represent as weights
    }
    b.cut[i].weight -= shift;
    b.cut[j].weight += shift;
  }
  b.hope = saturate(set_slopes(c, centre, b) >> kWeightBits);
}

/// Computes the prices to try; moves become what rounding leaves.
/// @returns false when the prices are the centre's or those of the last trial.
BERTH_HD inline bool next_prices(const PriceView& c, const PricePoint& centre, PriceBundle& b, std::int64_t top, PricePoint& trial) {
  bool moved = false, other = false;
  for (std::int32_t t = 0; t < c.n_types; ++t) {
    const Wide price = b.open[t] ? centre.price[t] - ((Wide{b.move[t]} * b.scale + kPriceUnit / 2) >> kPriceBits) : 0;
    trial.price[t] = static_cast<std::int64_t>(price < 0 ? 0 : price > top ? top : price);
    moved = moved || trial.price[t] != centre.price[t];
    other = other || trial.price[t] != b.last[t];
    b.last[t] = trial.price[t];
    b.move[t] = static_cast<std::int64_t>(floor_div_near(Wide{centre.price[t] - trial.price[t]} * kPriceUnit, b.scale));
  }
  return moved && other;
}

/// Updates the bundle with the trial. @returns true when the trial becomes the centre.
BERTH_HD inline bool learn(const PriceView& c, const PricePoint& centre, const PricePoint& trial, PriceBundle& b) {
  const std::int64_t gain = saturate(floor_div_near(Wide{centre.bound - trial.bound} * kPriceUnit, b.first));
  const bool moves = trial.bound < centre.bound;
  PriceCut added;
  set_gradient(c, b, trial, added);
  added.weight = 0;
  if (moves) {
    for (std::int32_t k = 0; k < b.n; ++k) {
      const Wide error = Wide{b.cut[k].error} - gain + along(c, b, b.cut[k]);
      b.cut[k].error = error < 0 ? 0 : saturate(error);
    }
    added.error = 0;
    if (Wide{2} * gain > b.hope) b.step = within(2 * b.step, 0, std::int64_t{1} << 30);
  } else {
    const Wide error = Wide{gain} - along(c, b, added);
    added.error = error < 0 ? 0 : saturate(error);
    if (added.error > Wide{4} * b.hope) b.step = within(b.step / 2, 1 << 6, b.step);
  }
  std::int32_t kept = 0;
  for (std::int32_t k = 0; k < b.n; ++k) {
    if (b.cut[k].weight > 0) b.cut[kept++] = b.cut[k];
  }
  if (kept == kMaxCuts) {
    std::int32_t least = 0;
    for (std::int32_t k = 1; k < kept; ++k) least = b.cut[k].weight < b.cut[least].weight ? k : least;
    b.cut[least == 0 ? 1 : 0].weight += b.cut[least].weight;
    for (std::int32_t k = least; k + 1 < kept; ++k) b.cut[k] = b.cut[k + 1];
    --kept;
  }
  b.cut[kept] = added;
  b.n = kept + 1;
  return moves;
}

}  // namespace berth::kernel
