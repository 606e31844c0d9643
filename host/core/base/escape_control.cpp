#include "host/core/base/escape_control.hpp"

#include <fmt/format.h>

namespace berth::core {
namespace {

// Characters that turn the direction of text, or break a line, which hide what a message shows: U+061C, U+200E, U+200F, U+2028 to U+202E,
// U+2066 to U+2069. @returns how many bytes it has, 0 for another one.
std::size_t misleading(std::string_view text, unsigned& code) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) == 0xd8 && byte(1) == 0x9c) return code = 0x061c, 2;
  if (byte(0) != 0xe2 || (byte(1) != 0x80 && byte(1) != 0x81) || (byte(2) & 0xc0U) != 0x80) return 0;
  code = 0x2000 | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU);
  const bool found = code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return found ? 3 : 0;
}

}  // namespace

std::string escape_control(std::string_view text, bool lines) {
  std::string out;
  out.reserve(text.size());
  unsigned code = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too: c2 80 to c2 9f.
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (c == 0xc2 && next >= 0x80 && next < 0xa0) {
      out += fmt::format("\\u{:04x}", next);
      ++i;
    } else if (const std::size_t bytes = misleading(text.substr(i), code); bytes > 0) {
      out += fmt::format("\\u{:04x}", code);
      i += bytes - 1;
    } else if ((c < 0x20 && !(lines && c == '\n')) || c == 0x7f) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace berth::core
