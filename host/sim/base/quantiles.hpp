#pragma once

#include <cstdint>
#include <span>

#include "berth/units.hpp"
#include "host/sim/base/random.hpp"

/// Distributions as small tables of integers: the same numbers on every machine, without libm.
namespace berth::sim {

/// One value of a discrete distribution; the shares of a table add up to 1,000,000.
struct Share {
  std::int32_t ppm;
  std::int32_t value;
};

/// One point of an inverse cumulative distribution, which is linear in between.
/// The first point is at 0, the last at 1,000,000; values are in ascending order.
struct QuantilePoint {
  std::int32_t at_ppm;
  std::int64_t seconds;  // < 2^31
};
using Quantiles = std::span<const QuantilePoint>;

std::int32_t pick(std::span<const Share> shares, ItemDraws& draws);

/// A random duration of the distribution, in whole milliseconds.
TimeUs draw_duration(Quantiles table, ItemDraws& draws);

/// A random duration as seen at a random instant: long ones are seen in proportion to their length.
TimeUs draw_met_duration(Quantiles table, ItemDraws& draws);

/// Mean of the durations above `beyond`; `beyond` itself where there are none.
TimeUs mean_beyond(Quantiles table, TimeUs beyond);

/// The quantile at `at_ppm` of the distribution above `beyond`; `beyond` itself where there is nothing above it.
TimeUs quantile_beyond(Quantiles table, TimeUs beyond, std::int32_t at_ppm);

}  // namespace berth::sim
