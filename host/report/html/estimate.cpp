#include "host/report/html/estimate.hpp"

#include <cmath>

#include "host/report/student_t.hpp"

namespace berth::report {

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
