#include "host/cli/sweep/sweep_intervals.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace berth::cli {
namespace {

constexpr std::array<double, 30> kStudentT{12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004,
                                           2.262157,  2.228139, 2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905,
                                           2.109816,  2.100922, 2.093024, 2.085963, 2.079614, 2.073873, 2.068658, 2.063899,
                                           2.059539,  2.055529, 2.051831, 2.048407, 2.045230, 2.042272};

}  // namespace

double student_t(std::int64_t freedom) {
  if (freedom <= static_cast<std::int64_t>(kStudentT.size()))
    return kStudentT[static_cast<std::size_t>(std::max<std::int64_t>(freedom, 1) - 1)];
  // The expansion of Cornish and Fisher around the normal quantile; its error is below 10^-6 here.
  constexpr double kZ = 1.959963985, kZ2 = kZ * kZ;
  const double v = static_cast<double>(freedom);
  const double first = kZ * (kZ2 + 1) / 4, second = kZ * ((5 * kZ2 + 16) * kZ2 + 3) / 96;
  const double third = kZ * (((3 * kZ2 + 19) * kZ2 + 17) * kZ2 - 15) / 384;
  return kZ + (first + (second + third / v) / v) / v;
}

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
  interval.half_width = student_t(interval.values - 1) * std::sqrt(squares / (n - 1) / n);
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
