#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/forecast.hpp"
#include "host/forecast/futures.hpp"

namespace berth::sim {

/// A quantile of sorted values: an interval from `low` to `high` has both of them.
TimeUs low_quantile(std::span<const TimeUs> sorted, std::int32_t ppm);
TimeUs high_quantile(std::span<const TimeUs> sorted, std::int32_t ppm);

/// Sorts the values.
ForecastTimes forecast_times(std::vector<TimeUs>& values, const ForecastLevels& levels);

/// Fills in the start and the end of one row, and the shares of futures without them.
void summarise(const FutureTimes& times, std::int32_t row, const ForecastLevels& levels, JobForecast& out);

}  // namespace berth::sim
