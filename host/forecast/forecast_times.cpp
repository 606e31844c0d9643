#include "host/forecast/forecast_times.hpp"

#include <algorithm>
#include <cmath>

#include "host/core/base/wide.hpp"

namespace berth::sim {
namespace {

constexpr std::int32_t kOne = 1'000'000, kHalf = kOne / 2;
constexpr std::int64_t kMostBeyond = 20 * kOne;  // of a reach
constexpr TimeUs kLeastReach = 60 * kSecond;     // where the futures agree

std::size_t rank_of(std::int64_t product, std::int64_t n, bool up) {
  const std::int64_t rank = up ? (product + 999'999) / 1'000'000 - 1 : product / 1'000'000;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(rank, 0, n - 1));
}

}  // namespace

TimeUs low_quantile(std::span<const TimeUs> sorted, std::int32_t ppm) {
  const auto n = static_cast<std::int64_t>(sorted.size());
  if (ppm >= 0) return sorted[rank_of(n * ppm, n, false)];
  const TimeUs first = sorted.front(), median = sorted[rank_of(n * kHalf, n, false)];
  return median == kNever ? first : std::max<TimeUs>(0, first - core::mul_div(std::max(kLeastReach, median - first), -ppm, kOne));
}

TimeUs high_quantile(std::span<const TimeUs> sorted, std::int32_t ppm) {
  const auto n = static_cast<std::int64_t>(sorted.size());
  if (ppm <= kOne) return sorted[rank_of(n * ppm, n, true)];
  const TimeUs last = sorted.back(), median = sorted[rank_of(n * kHalf, n, false)];
  return last == kNever ? last : core::saturating_add(last, core::mul_div(std::max(kLeastReach, last - median), ppm - kOne, kOne));
}

ForecastLevels levels_at(std::span<const TimeUs> sorted, TimeUs value) {
  const auto n = static_cast<std::int64_t>(sorted.size());
  const TimeUs first = sorted.front(), last = sorted.back(), median = sorted[rank_of(n * kHalf, n, false)];
  const auto beyond = [](TimeUs by, TimeUs reach) {
    return static_cast<std::int32_t>(std::min(kMostBeyond, core::mul_div(by, kOne, std::max(kLeastReach, reach)) + 1));
  };
  if (value < first) return {-beyond(first - value, median == kNever ? kLeastReach : median - first), 0};
  if (value > last) return {kOne, kOne + beyond(value - last, last - median)};
  const auto share = [&](auto found) { return static_cast<std::int32_t>((found - sorted.begin()) * kOne / n); };
  return {share(std::upper_bound(sorted.begin(), sorted.end(), value)), share(std::lower_bound(sorted.begin(), sorted.end(), value))};
}

ForecastTimes forecast_times(std::vector<TimeUs>& values, TimeUs now, const LevelsByHorizon& levels) {
  ForecastTimes out;
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<std::int64_t>(values.size());
  out.median_us = low_quantile(values, kHalf);
  const ForecastLevels& here =
      levels.at(static_cast<std::size_t>(forecast_horizon(out.median_us == kNever ? kNever : out.median_us - now)));
  out.low_us = std::max(now, low_quantile(values, here.low_ppm));
  out.high_us = high_quantile(values, here.high_ppm);
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

void summarise(const FutureTimes& times, std::int32_t row, TimeUs now, const LevelsByHorizon& levels, JobForecast& out) {
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
  out.start = forecast_times(starts, now, levels);
  out.end = forecast_times(ends, now, levels);
  out.never_ppm = static_cast<std::int32_t>(never * 1'000'000 / times.futures);
  out.withdrawn_ppm = static_cast<std::int32_t>(withdrawn * 1'000'000 / times.futures);
}

}  // namespace berth::sim

namespace berth {

int forecast_horizon(TimeUs ahead) {
  constexpr TimeUs kHorizonHour = 3'600 * kSecond;
  return ahead <= kHorizonHour ? 0 : ahead <= 6 * kHorizonHour ? 1 : ahead <= 24 * kHorizonHour ? 2 : 3;
}

}  // namespace berth
