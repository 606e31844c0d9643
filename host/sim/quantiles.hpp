#pragma once

#include <cstdint>
#include <span>

#include "berth/units.hpp"
#include "host/sim/random.hpp"

/// Distributions as small tables of integers: the same numbers on every machine, no libm.
namespace berth::sim {

/// One value of a discrete distribution; the shares of a table add up to 1,000,000.
struct Share {
  std::int32_t ppm;
  std::int32_t value;
};

/// One point of an inverse cumulative distribution, linear in between; first at 0, last at 1,000,000, values not descending.
struct QuantilePoint {
  std::int32_t at_ppm;
  std::int64_t seconds;  // < 2^31
};
using Quantiles = std::span<const QuantilePoint>;

std::int32_t pick(std::span<const Share> shares, Draws& draws);

/// A duration of the distribution, in whole milliseconds.
TimeUs draw_duration(Quantiles table, Draws& draws);

/// A duration as met by somebody who looks at a random instant: long ones are met in proportion to their length.
TimeUs draw_met_duration(Quantiles table, Draws& draws);

/// Mean of the durations above `beyond`; `beyond` itself where there is none above it.
TimeUs mean_beyond(Quantiles table, TimeUs beyond);

/// The value below which `at_ppm` of the distribution above `beyond` lies; `beyond` itself where there is none above it.
TimeUs quantile_beyond(Quantiles table, TimeUs beyond, std::int32_t at_ppm);

}  // namespace berth::sim
