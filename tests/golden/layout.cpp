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

namespace {

// Appends the value at `i` of a text without blanks, on one line or on several.
class Nested {
 public:
  explicit Nested(const std::string& json) : json_(json) {}

  std::string text() {
    value(0);
    return out_ + '\n';
  }

 private:
  static constexpr std::size_t kColumns = 140;

  // Behind the value at `i`: behind its closing bracket, or at the comma or bracket that ends it.
  std::size_t end_of(std::size_t i) const {
    int depth = 0;
    for (bool in_string = false; i < json_.size(); ++i) {
      const char c = json_[i];
      if (in_string) {
        if (c == '\\') ++i;
        if (c == '"') in_string = false;
        continue;
      }
      in_string = c == '"';
      if (depth == 0 && (c == ',' || c == ':' || c == '}' || c == ']' || c == '\n')) break;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
    }
    return i;
  }

  std::string on_one_line(std::size_t begin, std::size_t end) const {
    std::string text;
    bool in_string = false;
    for (std::size_t i = begin; i < end; ++i) {
      const char c = json_[i];
      text += c;
      if (in_string && c == '\\') text += json_[++i];
      if (c == '"') in_string = !in_string;
      if (!in_string && (c == ',' || c == ':')) text += ' ';
    }
    return text;
  }

  void new_line() {
    out_ += '\n';
    line_ = out_.size();
    out_.append(static_cast<std::size_t>(depth_), ' ');
  }

  // @returns the position behind it.
  std::size_t value(std::size_t i) {
    const std::size_t end = end_of(i);
    const std::string line = on_one_line(i, end);
    const bool nests = json_[i] == '{' || json_[i] == '[';
    if (!nests || out_.size() - line_ + line.size() < kColumns) {
      out_ += line;
      return end;
    }
    out_ += json_[i];
    ++depth_;
    for (bool more = true; more;) {
      new_line();
      i = value(i + 1);
      if (json_[i] == ':') {
        out_ += ": ";
        i = value(i + 1);
      }
      more = json_[i] == ',';
      if (more) out_ += ',';
    }
    --depth_;
    new_line();
    out_ += json_[i];
    return i + 1;
  }

  const std::string& json_;
  std::string out_;
  std::size_t line_ = 0;  // where the last one begins
  int depth_ = 0;
};

}  // namespace

std::string lay_out_nested(const std::string& json) { return Nested(json).text(); }

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
