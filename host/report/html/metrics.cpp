#include "host/report/html/metrics.hpp"

#include <fmt/format.h>

#include <cmath>

#include "host/core/base/decimal.hpp"

namespace berth::report {
namespace {

std::string with_thousands(std::string digits) {
  const std::size_t point = digits.find('.');
  std::size_t at = point == std::string::npos ? digits.size() : point;
  while (at > 3 && digits[at - 4] != '-' && digits[at - 4] != '+') {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

}  // namespace

std::string shown(MetricUnit unit, double value, bool sign) {
  if (!std::isfinite(value)) return "-";
  const double scaled = unit == MetricUnit::kSeconds ? value / 1e6 : unit == MetricUnit::kPart ? value / 1e4 : value / 1e6;
  // Means of counts have a tenth where they are not whole.
  const int places = unit == MetricUnit::kCount && scaled == std::floor(scaled) ? 0 : 1;
  std::string digits = sign ? fmt::format("{:+.{}f}", scaled, places) : fmt::format("{:.{}f}", scaled, places);
  if (digits == "-0.0" || digits == "+0.0" || digits == "+0" || digits == "-0") digits = digits.substr(1);
  return with_thousands(digits);
}

double shown_scale(MetricUnit unit) { return unit == MetricUnit::kPart ? 1e4 : 1e6; }

const char* unit_name(MetricUnit unit) { return unit == MetricUnit::kSeconds ? "s" : unit == MetricUnit::kPart ? "%" : ""; }

}  // namespace berth::report
