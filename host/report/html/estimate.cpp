#include "host/report/html/estimate.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace berth::report {

double student_975(std::int64_t degrees) {
  constexpr std::array kFew{12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
                            2.2010,  2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
                            2.0796,  2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
  if (degrees < 1) return INFINITY;
  if (degrees <= static_cast<std::int64_t>(kFew.size())) return kFew[static_cast<std::size_t>(degrees - 1)];
  // Cornish-Fisher expansion about the normal quantile (Abramowitz and Stegun 26.7.5).
  const double z = 1.959963985, n = static_cast<double>(degrees);
  const double z3 = z * z * z, z5 = z3 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n);
}

MeanEstimate estimate_of(std::span<const std::int64_t> values) {
  MeanEstimate estimate;
  estimate.runs = static_cast<std::int64_t>(values.size());
  if (values.empty()) return estimate;
  const auto n = static_cast<__int128>(values.size());
  __int128 sum = 0;
  for (const std::int64_t value : values) sum += value;
  const __int128 twice = 2 * (sum < 0 ? -sum : sum) + n;
  estimate.mean = static_cast<std::int64_t>(sum < 0 ? -(twice / (2 * n)) : twice / (2 * n));
  if (values.size() < 2) return estimate;
  const double mean = static_cast<double>(sum) / static_cast<double>(n);
  double squares = 0;
  for (const std::int64_t value : values) squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  const auto count = static_cast<double>(values.size());
  estimate.half = student_975(estimate.runs - 1) * std::sqrt(squares / (count - 1) / count);
  return estimate;
}

}  // namespace berth::report
