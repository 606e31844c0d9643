#include "host/io/json/json_number.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace berth::io {
namespace {

constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;  // of the magnitude; the limit itself is valid only for negative numbers
constexpr std::int64_t kExponentLimit = 4'000'000'000;    // beyond every file's length, far from overflow

// Significant digits without trailing zeros: value = digits * 10^exponent.
struct Scanned {
  std::uint64_t digits = 0;
  std::int64_t exponent = 0;
  bool negative = false;
  bool overflow = false;  // more digits than fit in 64 bits
};

bool times_ten(std::uint64_t& value, std::uint64_t add) {
  if (value > (kLimit - add) / 10) return false;
  value = value * 10 + add;
  return true;
}

Scanned scan(std::string_view text) {
  Scanned s;
  std::size_t i = 0;
  if (text[0] == '-') {
    s.negative = true;
    i = 1;
  }
  bool fraction = false;
  std::int64_t zeros = 0;  // zeros read so far that may be trailing
  for (; i < text.size() && (text[i] | 0x20) != 'e'; ++i) {
    if (text[i] == '.') {
      fraction = true;
      continue;
    }
    if (fraction) --s.exponent;
    if (text[i] == '0') {
      if (s.digits != 0 || s.overflow) ++zeros;
      continue;
    }
    for (; zeros > 0 && !s.overflow; --zeros) s.overflow = !times_ten(s.digits, 0);
    zeros = 0;
    if (!s.overflow) s.overflow = !times_ten(s.digits, static_cast<std::uint64_t>(text[i] - '0'));
  }
  s.exponent += zeros;
  if (i < text.size()) {
    ++i;
    const bool down = text[i] == '-';
    if (text[i] == '-' || text[i] == '+') ++i;
    std::int64_t e = 0;
    for (; i < text.size(); ++i) e = std::min(e * 10 + (text[i] - '0'), kExponentLimit);
    s.exponent += down ? -e : e;
  }
  return s;
}

}  // namespace

DecimalError scale_decimal(std::string_view number, int places, std::int64_t& out) {
  const Scanned s = scan(number);
  std::int64_t shift = s.exponent + places;
  if (s.digits == 0 && !s.overflow) {
    out = 0;
    return DecimalError::kNone;
  }
  if (shift < 0) return DecimalError::kTooManyDigits;
  if (s.overflow || shift > 18) return DecimalError::kTooLarge;
  std::uint64_t magnitude = s.digits;
  for (; shift > 0; --shift) {
    if (!times_ten(magnitude, 0)) return DecimalError::kTooLarge;
  }
  if (magnitude == kLimit) {
    if (!s.negative) return DecimalError::kTooLarge;
    out = std::numeric_limits<std::int64_t>::min();
    return DecimalError::kNone;
  }
  out = s.negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
  return DecimalError::kNone;
}

}  // namespace berth::io
