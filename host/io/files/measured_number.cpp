#include "host/io/files/measured_number.hpp"

#include <algorithm>
#include <cstddef>

#include "berth/units.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kMostSignificant = 18;  // a double has 17 significant digits

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

/// The exponent after 'e', or nothing. It is clamped to +-999: the value is 0 or too large anyway.
std::optional<int> exponent_of(std::string_view text) {
  const bool down = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_decimal_digit)) return std::nullopt;
  int value = 0;
  for (const char c : text) value = std::min(value * 10 + (c - '0'), 999);
  return down ? -value : value;
}

}  // namespace

std::optional<std::int64_t> parse_measured(std::string_view text, int places) {
  const std::size_t e = text.find_first_of("eE");
  int shift = places;
  if (e != text.npos) {
    const auto exponent = exponent_of(text.substr(e + 1));
    if (!exponent) return std::nullopt;
    shift += *exponent;
    text = text.substr(0, e);
  }
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point), fraction = point == text.npos ? std::string_view() : text.substr(point + 1);
  if (whole.empty() || (point != text.npos && fraction.empty())) return std::nullopt;
  std::int64_t value = 0;
  std::size_t digits = 0;
  for (const std::string_view part : {whole, fraction}) {
    for (const char c : part) {
      if (!is_decimal_digit(c)) return std::nullopt;
      const bool in_fraction = part.data() == fraction.data();
      if (digits == kMostSignificant) {  // dropped: before the point it still counts as a place
        shift += in_fraction ? 0 : 1;
        continue;
      }
      value = value * 10 + (c - '0');
      digits += value > 0 ? 1 : 0;
      shift -= in_fraction ? 1 : 0;
    }
  }
  for (; shift < 0 && value > 0; ++shift) value /= 10;
  for (; shift > 0 && value > 0; --shift) {
    if (value > kScoreCeiling / 10) return std::nullopt;
    value *= 10;
  }
  if (value > kScoreCeiling) return std::nullopt;
  return value;
}

}  // namespace berth::io
