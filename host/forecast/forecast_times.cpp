#include "host/forecast/forecast_times.hpp"

#include <algorithm>
#include <cmath>

namespace berth::sim {
namespace {

std::size_t rank_of(std::int64_t product, std::int64_t n, bool up) {
  const std::int64_t rank = up ? (product + 999'999) / 1'000'000 - 1 : product / 1'000'000;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(rank, 0, n - 1));
}

}  // namespace

TimeUs low_quantile(std::span<const TimeUs> sorted, std::int32_t ppm) {
  const auto n = static_cast<std::int64_t>(sorted.size());
  return sorted[rank_of(n * ppm, n, false)];
}

TimeUs high_quantile(std::span<const TimeUs> sorted, std::int32_t ppm) {
  const auto n = static_cast<std::int64_t>(sorted.size());
  return sorted[rank_of(n * ppm, n, true)];
}

ForecastTimes forecast_times(std::vector<TimeUs>& values, const ForecastLevels& levels) {
  ForecastTimes out;
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<std::int64_t>(values.size());
  out.median_us = low_quantile(values, 500'000);
  out.low_us = low_quantile(values, levels.low_ppm);
  out.high_us = high_quantile(values, levels.high_ppm);
  // The number of values below the median of the law is binomial, with a standard deviation of sqrt(n) / 2.
  const auto spread = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(n)) / 2));
  const TimeUs above = values[static_cast<std::size_t>(std::min(n - 1, n / 2 + spread))];
  const TimeUs below = values[static_cast<std::size_t>(std::max<std::int64_t>(0, n / 2 - spread))];
  if (above == kNever) {
    out.median_error_us = kNever;
  } else {
    out.median_error_us = (above - below) / 2;
  }
  return out;
}

void summarise(const FutureTimes& times, std::int32_t row, const ForecastLevels& levels, JobForecast& out) {
  std::vector<TimeUs> starts, ends;
  std::int64_t never = 0, withdrawn = 0;
  for (std::int32_t future = 0; future < times.futures; ++future) {
    const std::size_t at = static_cast<std::size_t>(row) * static_cast<std::size_t>(times.futures) + static_cast<std::size_t>(future);
    if (!times.withdrawn.empty() && times.withdrawn[at] != 0) {
      ++withdrawn;
      continue;
    }
    never += times.start[at] == kNever ? 1 : 0;
    starts.push_back(times.start[at]);
    ends.push_back(times.end[at]);
  }
  if (times.futures == 0) return;
  out.start = forecast_times(starts, levels);
  out.end = forecast_times(ends, levels);
  out.never_ppm = static_cast<std::int32_t>(never * 1'000'000 / times.futures);
  out.withdrawn_ppm = static_cast<std::int32_t>(withdrawn * 1'000'000 / times.futures);
}

}  // namespace berth::sim
