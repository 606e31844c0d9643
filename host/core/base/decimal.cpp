#include "host/core/base/decimal.hpp"

#include <array>

namespace berth::core {

void append_decimal(std::string& out, std::int64_t value, int places) {
  auto magnitude = static_cast<std::uint64_t>(value);
  if (value < 0) {
    out += '-';
    magnitude = 0 - magnitude;
  }
  std::array<char, 40> buffer;  // 20 digits and at most 12 places
  char* const end = buffer.data() + buffer.size();
  char* p = end;
  int left = places;
  for (; left > 0 && magnitude % 10 == 0; --left) magnitude /= 10;
  const bool fraction = left > 0;
  for (; left > 0; --left, magnitude /= 10) *--p = static_cast<char>('0' + magnitude % 10);
  if (fraction) *--p = '.';
  do {
    *--p = static_cast<char>('0' + magnitude % 10);
    magnitude /= 10;
  } while (magnitude != 0);
  out.append(p, end);
}

std::string decimal_text(std::int64_t value, int places) {
  std::string text;
  append_decimal(text, value, places);
  return text;
}

}  // namespace berth::core
