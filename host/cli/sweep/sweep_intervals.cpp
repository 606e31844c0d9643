#include "host/cli/sweep/sweep_intervals.hpp"

#include <algorithm>
#include <cmath>

#include "host/report/student_t.hpp"

namespace berth::cli {

SweepInterval interval_of(const std::vector<std::int64_t>& values) {
  SweepInterval interval;
  interval.values = static_cast<std::int64_t>(values.size());
  if (values.empty()) return interval;
  const double n = static_cast<double>(values.size());
  __int128 sum = 0;
  for (const std::int64_t value : values) sum += value;
  interval.mean = static_cast<double>(sum) / n;
  if (values.size() == 1) return interval;
  double squares = 0;
  for (const std::int64_t value : values) {
    const double off = static_cast<double>(value) - interval.mean;
    squares += off * off;
  }
  interval.half_width = report::student_975(interval.values - 1) * std::sqrt(squares / (n - 1) / n);
  return interval;
}

bool is_narrow(const SweepInterval& interval, std::int64_t part_ppm) {
  return interval.values > 1 && interval.half_width * 1e6 <= static_cast<double>(part_ppm) * std::abs(interval.mean);
}

std::int64_t next_count(const SweepInterval& interval, std::int64_t part_ppm) {
  const double wanted = static_cast<double>(part_ppm) / 1e6 * std::abs(interval.mean);
  const std::int64_t n = std::max<std::int64_t>(interval.values, 1);
  if (!(wanted > 0)) return 2 * n;
  const double ratio = interval.half_width / wanted;
  const double needed = std::ceil(static_cast<double>(n) * ratio * ratio);
  return needed >= static_cast<double>(2 * n) ? 2 * n : std::max(static_cast<std::int64_t>(needed), n + 1);
}

}  // namespace berth::cli
