#include "host/report/html/html_text.hpp"

#include <bit>

#include "host/core/base/escape_control.hpp"

namespace berth::report {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are packed as they are in memory");

std::string base64(const unsigned char* bytes, std::size_t n) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((n + 2) / 3 * 4);
  for (std::size_t i = 0; i < n; i += 3) {
    const std::size_t left = n - i;
    const unsigned word =
        unsigned{bytes[i]} << 16 | (left > 1 ? unsigned{bytes[i + 1]} << 8 : 0U) | (left > 2 ? unsigned{bytes[i + 2]} : 0U);
    text += kDigits[word >> 18];
    text += kDigits[word >> 12 & 63];
    text += left > 1 ? kDigits[word >> 6 & 63] : '=';
    text += left > 2 ? kDigits[word & 63] : '=';
  }
  return text;
}

template <class T>
std::string packed_bytes(std::span<const T> values) {
  return base64(reinterpret_cast<const unsigned char*>(values.data()), values.size_bytes());
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : core::escape_control(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string script_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  // In JSON these are within strings only.
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else {
      out += c;
    }
  }
  return out;
}

std::string packed(std::span<const double> values) { return packed_bytes(values); }
std::string packed(std::span<const float> values) { return packed_bytes(values); }
std::string packed(std::span<const std::uint32_t> values) { return packed_bytes(values); }
std::string packed(std::span<const std::uint8_t> values) { return packed_bytes(values); }

}  // namespace berth::report
