#include "host/core/base/civil_time.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/error.hpp"

namespace berth::core {
namespace {

constexpr std::int64_t kDay = 86'400;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads exactly `n` digits at `at`.
std::optional<std::int64_t> digits(std::string_view text, std::size_t at, std::size_t n) {
  if (at + n > text.size()) return std::nullopt;
  std::int64_t value = 0;
  for (std::size_t i = at; i < at + n; ++i) {
    if (!is_digit(text[i])) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

/// The part after the point in microseconds; digits beyond the sixth must be zero.
std::optional<std::int64_t> fraction(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0, weight = 100'000;
  for (const char c : text) {
    if (!is_digit(c) || (weight == 0 && c != '0')) return std::nullopt;
    value += (c - '0') * weight;
    weight /= 10;
  }
  return value;
}

std::string fraction_text(std::int64_t micros) {
  std::string text = fmt::format("{:06}", micros);
  while (text.back() == '0') text.pop_back();
  return text;
}

bool leap(std::int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

std::int64_t month_length(std::int64_t year, std::int64_t month) {
  constexpr std::array<std::int64_t, 12> length{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && leap(year) ? 29 : length.at(static_cast<std::size_t>(month - 1));
}

/// Days from 0000-01-01 to the first day of `year` >= 0.
std::int64_t days_to_year(std::int64_t year) {
  if (year == 0) return 0;
  const std::int64_t before = year - 1;
  return year * 365 + before / 4 - before / 100 + before / 400 + 1;  // + 1: year 0 is a leap year
}

// "+08:00"
bool is_offset(std::string_view text) {
  return (text[0] == '+' || text[0] == '-') && is_digit(text[1]) && is_digit(text[2]) && text[3] == ':' && is_digit(text[4]) &&
         is_digit(text[5]);
}

const std::int64_t kEpochDays = days_to_year(1970);

}  // namespace

std::optional<TimeUs> parse_seconds(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::int64_t value = 0;
  if (whole.empty()) return std::nullopt;
  for (const char c : whole) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
    if (value > kMaxTimeUs / kSecond) return std::nullopt;
  }
  value *= kSecond;
  if (point != std::string_view::npos) {
    const auto part = fraction(text.substr(point + 1));
    if (!part) return std::nullopt;
    value += *part;
  }
  return negative ? -value : value;
}

std::string format_seconds(TimeUs us) {
  const std::string sign = us < 0 ? "-" : "";
  const std::int64_t whole = us / kSecond, part = us % kSecond;
  std::string text = sign + fmt::format("{}", whole < 0 ? -whole : whole);
  if (part != 0) text += "." + fraction_text(part < 0 ? -part : part);
  return text;
}

std::optional<TimeUs> parse_civil(std::string_view text) {
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' || (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  if (*month < 1 || *month > 12 || *day < 1 || *day > month_length(*year, *month)) return std::nullopt;
  if (*hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  std::int64_t part = 0;
  if (text.size() > 19) {
    const auto read = text[19] == '.' ? fraction(text.substr(20)) : std::nullopt;
    if (!read) return std::nullopt;
    part = *read;
  }
  std::int64_t days = days_to_year(*year) - kEpochDays + *day - 1;
  for (std::int64_t m = 1; m < *month; ++m) days += month_length(*year, m);
  return (days * kDay + *hour * 3'600 + *minute * 60 + *second) * kSecond + part;
}

bool is_missing_day(std::string_view text) {
  if (!digits(text, 8, 2) || parse_civil(text)) return false;
  return parse_civil(std::string(text.substr(0, 8)) + "01" + std::string(text.substr(10))).has_value();
}

std::string format_civil(TimeUs us) {
  std::int64_t seconds = us / kSecond, part = us % kSecond;
  if (part < 0) part += kSecond, --seconds;
  std::int64_t days = seconds / kDay, rest = seconds % kDay;
  if (rest < 0) rest += kDay, --days;
  days += kEpochDays;
  std::int64_t year = days / 366;  // never too late; at most a few years early
  while (days_to_year(year + 1) <= days) ++year;
  days -= days_to_year(year);
  std::int64_t month = 1;
  while (days >= month_length(year, month)) days -= month_length(year, month++);
  const std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", year, month, days + 1, rest / 3'600, rest / 60 % 60, rest % 60);
  return part == 0 ? text : text + "." + fraction_text(part);
}

std::string civil_after(std::string_view origin_iso, TimeUs us) {
  std::string_view zone;
  if (origin_iso.ends_with('Z')) zone = origin_iso.substr(origin_iso.size() - 1);
  if (origin_iso.size() > 19 + 5 && is_offset(origin_iso.substr(origin_iso.size() - 6))) zone = origin_iso.substr(origin_iso.size() - 6);
  origin_iso.remove_suffix(zone.size());
  const auto origin = parse_civil(origin_iso);
  if (!origin || us < 0 || us > kMaxTimeUs || *origin + us > *parse_civil("9999-12-31T23:59:59")) return {};
  return format_civil(*origin + us) + std::string(zone);
}

TimeUs parse_instant(std::string_view text, const std::string& origin_iso) {
  if (!text.empty() && text.front() == '+') {
    const auto after = parse_seconds(text.substr(1));
    if (!after || *after < 0)
      throw InvalidArgument(fmt::format("time '{}': expected +SECONDS with at most 6 digits after the point", text));
    return *after;
  }
  const auto at = parse_civil(text);
  if (!at) {
    if (is_missing_day(text)) throw InvalidArgument(fmt::format("time '{}': its month has no such day", text));
    throw InvalidArgument(fmt::format("time '{}': expected 'YYYY-MM-DD HH:MM:SS' in the trace's local time (no zone), or +SECONDS", text));
  }
  const auto origin = parse_civil(origin_iso);
  if (!origin) throw InvalidArgument(fmt::format("time '{}': the trace does not say when its time 0 was; use +SECONDS", text));
  return *at - *origin;
}

}  // namespace berth::core
