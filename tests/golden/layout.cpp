#include "tests/golden/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <vector>

namespace berth::test {
namespace {

constexpr int kLevelsOnOwnLine = 2;
constexpr std::size_t kMostLines = 40;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string lay_out(const std::string& json) {
  std::string out;
  int depth = 0;
  bool in_string = false;
  const auto new_line = [&] {
    out += '\n';
    out.append(static_cast<std::size_t>(depth) * 2, ' ');
  };
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < json.size()) out += json[++i];
      if (c == '"') in_string = false;
      continue;
    }
    switch (c) {
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        break;
      case '{':
      case '[':
        out += c;
        if (++depth <= kLevelsOnOwnLine) new_line();
        break;
      case '}':
      case ']':
        if (depth-- <= kLevelsOnOwnLine) new_line();
        out += c;
        break;
      case ',':
        out += c;
        if (depth <= kLevelsOnOwnLine) {
          new_line();
        } else {
          out += ' ';
        }
        break;
      case ':':
        out += ": ";
        break;
      default:
        out += c;
        in_string = c == '"';
    }
  }
  return out + '\n';
}

std::string difference(const std::string& expected, const std::string& actual) {
  const std::vector<std::string> a = lines_of(expected), b = lines_of(actual);
  std::size_t head = 0, tail = 0;
  const std::size_t shorter = std::min(a.size(), b.size());
  while (head < shorter && a[head] == b[head]) ++head;
  while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;

  std::string text = "from line " + std::to_string(head + 1) + ":\n";
  const auto show = [&](const std::vector<std::string>& lines, std::size_t i, const char* mark) {
    if (i < lines.size() - tail) text += mark + lines[i] + '\n';
  };
  const std::size_t last = std::max(a.size(), b.size()) - tail;
  for (std::size_t i = head; i < last; ++i) {
    if (i - head == kMostLines / 2) return text + "  ... and " + std::to_string(last - i) + " lines more\n";
    if (i < a.size() - tail && i < b.size() - tail && a[i] == b[i]) continue;
    show(a, i, "- ");
    show(b, i, "+ ");
  }
  return text;
}

}  // namespace berth::test
