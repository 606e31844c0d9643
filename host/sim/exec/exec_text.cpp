#include "host/sim/exec/exec_text.hpp"

#include <bit>

namespace berth::sim {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

std::size_t hex_value(char c) { return kHex.find(c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c); }

}  // namespace

void append_word(std::string& line, std::string_view text) {
  if (text.empty()) {
    line += '-';
    return;
  }
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f || c == ',' || c == '%' || text == "-") {
      line += {'%', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      line += c;
    }
  }
}

std::string word_text(std::string_view word) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const std::size_t high = i + 2 < word.size() ? hex_value(word[i + 1]) : std::string_view::npos;
    const std::size_t low = high != std::string_view::npos ? hex_value(word[i + 2]) : std::string_view::npos;
    if (word[i] == '%' && low != std::string_view::npos) {
      text += static_cast<char>(high << 4 | low);
      i += 2;
    } else {
      text += word[i];
    }
  }
  return text;
}

void append_place(std::string& line, std::string_view node, std::uint64_t gpus) {
  append_word(line, node);
  char separator = ':';
  for (std::uint64_t left = gpus; left != 0; left &= left - 1) {
    line += separator;
    line += std::to_string(std::countr_zero(left));
    separator = ',';
  }
}

}  // namespace berth::sim
