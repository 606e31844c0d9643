#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/forecast.hpp"
#include "host/forecast/futures.hpp"

namespace berth::sim {

/// A quantile of sorted values: an interval from `low` to `high` has both of them. See ForecastLevels for those beyond 0 and 1.
TimeUs low_quantile(std::span<const TimeUs> sorted, std::int32_t ppm);
TimeUs high_quantile(std::span<const TimeUs> sorted, std::int32_t ppm);
/// The levels at which an interval would begin, or end, at `value`: the largest and the smallest.
ForecastLevels levels_at(std::span<const TimeUs> sorted, TimeUs value);

/// Sorts the values. None is before `now`.
ForecastTimes forecast_times(std::vector<TimeUs>& values, TimeUs now, const LevelsByHorizon& levels);

/// Fills in the start and the end of one row, and the shares of futures without them.
void summarise(const FutureTimes& times, std::int32_t row, TimeUs now, const LevelsByHorizon& levels, JobForecast& out);

}  // namespace berth::sim
