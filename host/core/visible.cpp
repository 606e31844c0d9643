#include "host/core/visible.hpp"

#include <fmt/format.h>

namespace berth::core {

std::string visible(std::string_view text, bool lines) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too: c2 80 to c2 9f.
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (c == 0xc2 && next >= 0x80 && next < 0xa0) {
      out += fmt::format("\\u{:04x}", next);
      ++i;
    } else if ((c < 0x20 && !(lines && c == '\n')) || c == 0x7f) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace berth::core
