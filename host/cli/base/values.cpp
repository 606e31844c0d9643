#include "host/cli/base/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "berth/error.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/io/files/measured_number.hpp"

namespace berth::cli {
namespace {

constexpr std::size_t kMostDigits = 12;  // before the point; multiplied by the largest unit it fits 64 bits

// A decimal times `unit`, exactly; nothing for another form or a result that is not whole.
std::optional<std::int64_t> times(std::string_view text, std::int64_t unit) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string_view part = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (whole.empty() || whole.size() > kMostDigits || (point != std::string_view::npos && part.empty())) return std::nullopt;
  if ((std::string(whole) + std::string(part)).find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : whole) value = value * 10 + (c - '0');
  if (value > kMaxTimeUs / unit) return std::nullopt;
  value *= unit;
  for (; !part.empty(); part.remove_prefix(1)) {
    const int digit = part.front() - '0';
    if (digit != 0 && unit % 10 != 0) return std::nullopt;
    if (unit % 10 == 0) unit /= 10;
    value += digit * unit;
  }
  return value;
}

}  // namespace

TimeUs parse_duration(std::string_view text) {
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {{"us", 1},           {"ms", 1'000},          {"s", kSecond},
                                                                  {"m", 60 * kSecond}, {"h", 3'600 * kSecond}, {"d", 86'400 * kSecond}};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  for (const auto& unit : kUnits) {
    if (text.substr(digits) != unit.first) continue;
    if (const auto value = times(text.substr(0, digits), unit.second)) return *value;
  }
  throw InvalidArgument(fmt::format("'{}' is no duration: expected a number and a unit, such as 100ms, 1.5s or 2m", echoed(text)));
}

std::int32_t parse_part(std::string_view option, std::string_view text) {
  const auto value = times(text, 1'000'000);
  if (!value || *value > 1'000'000) {
    throw InvalidArgument(
        fmt::format("{}: '{}': expected a decimal from 0 to 1 with at most 6 digits after the point", option, echoed(text)));
  }
  return static_cast<std::int32_t>(*value);
}

std::int32_t parse_load(std::string_view text) {
  const auto value = times(text, 1'000'000);
  if (!value || *value < 1 || *value > 1'000'000'000) {
    throw InvalidArgument(
        fmt::format("--load: '{}': expected a decimal above 0 and at most 1000 with at most 6 digits after the point", echoed(text)));
  }
  return static_cast<std::int32_t>(*value);
}

std::pair<std::string, std::string> parse_key_value(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) throw InvalidArgument(fmt::format("'{}': expected NAME=VALUE", echoed(text)));
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::optional<std::int64_t> parse_positive(std::string_view text, int places, std::int64_t most) {
  const auto value = io::parse_measured(text, places);
  return value && *value > 0 && *value <= most ? value : std::nullopt;
}

}  // namespace berth::cli
