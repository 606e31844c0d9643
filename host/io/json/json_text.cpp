#include "host/io/json/json_text.hpp"

#include <fmt/format.h>
#include <simdjson.h>

namespace berth::io {
namespace {

// simdjson selects its implementation at the first use, which allocates memory where it must not throw. So it is used once at the start.
[[maybe_unused]] const bool kImplementationFound = simdjson::validate_utf8("", 0);

}  // namespace

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

const char* first_invalid_utf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return text.data() + text.size();
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    const std::string_view one = text.substr(i, length);
    if (one.size() < length || !simdjson::validate_utf8(one.data(), length)) break;
    i += length;
  }
  return text.data() + i;
}

std::string cut_utf8(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (text[most] & 0xC0) == 0x80) --most;
  return std::string(text.substr(0, most));
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, from, i - from);
    from = i + 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    }
  }
  out.append(text, from);
  out += '"';
}

std::string pointer_token(std::string_view key) {
  std::string text;
  for (const char c : key) {
    if (c == '~')
      text += "~0";
    else if (c == '/')
      text += "~1";
    else
      text += c;
  }
  return text;
}

}  // namespace berth::io
