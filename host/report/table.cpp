#include "host/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

namespace berth::report {
namespace {

constexpr std::size_t kGap = 2;     // blanks between columns
constexpr std::size_t kLeast = 20;  // no column wraps to fewer

using Widths = std::vector<std::size_t>;

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0, word = 0;
  for (const char c : text) {
    word = c == ' ' ? 0 : word + 1;
    longest = std::max(longest, word);
  }
  return longest;
}

/// The columns of one table: `least[c]` is how narrow column c may become.
struct Columns {
  Widths width, least;

  explicit Columns(std::size_t n) : width(n), least(n, kLeast) {}
  void see(const Row& row) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      width[c] = std::max(width[c], row[c].size());
      least[c] = std::max(least[c], longest_word(row[c]));
    }
  }
};

std::size_t total(const Widths& width) { return std::accumulate(width.begin(), width.end(), kGap * (width.size() - 1)); }

// Narrows the widest columns until all fit, or none can give more.
void narrow(Columns& columns) {
  for (std::size_t all = total(columns.width); all > kTableWidth;) {
    std::size_t widest = columns.width.size();
    for (std::size_t c = 0; c < columns.width.size(); ++c) {
      const bool gives = columns.width[c] > columns.least[c];
      if (gives && (widest == columns.width.size() || columns.width[c] > columns.width[widest])) widest = c;
    }
    if (widest == columns.width.size()) return;
    --columns.width[widest];
    --all;
  }
}

std::vector<std::string_view> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string_view> lines;
  while (text.size() > width) {
    std::size_t end = text.rfind(' ', width);
    if (end == text.npos) end = std::min(text.find(' '), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (lines.empty() || !text.empty()) lines.push_back(text);
  return lines;
}

std::string lines_of(const Row& row, const Widths& width, const char* colour) {
  std::vector<std::vector<std::string_view>> cells;
  std::size_t height = 1;
  for (std::size_t c = 0; c < row.size(); ++c) {
    cells.push_back(wrapped(row[c], width[c]));
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string_view part = i < cells[c].size() ? cells[c][i] : std::string_view();
      line += c + 1 < row.size() ? fmt::format("{:<{}}  ", part, width[c]) : std::string(part);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += colour == nullptr ? line + "\n" : fmt::format("{}{}\x1b[0m\n", colour, line);
  }
  return text;
}

Row picked(const Row& row, const std::vector<std::size_t>& which) {
  Row part;
  for (const std::size_t c : which) part.push_back(row[c]);
  return part;
}

}  // namespace

std::string table(const Row& head, const std::vector<Row>& rows, const std::vector<const char*>& colours, std::size_t keys) {
  Columns columns(head.size());
  columns.see(head);
  for (const Row& row : rows) columns.see(row);
  for (std::size_t c = 0; c < head.size(); ++c) columns.least[c] = std::min(columns.least[c], columns.width[c]);
  std::string text;
  for (std::size_t next = keys, c = 0; c < head.size(); next = c) {
    std::vector<std::size_t> which(keys);
    std::iota(which.begin(), which.end(), std::size_t{0});
    std::size_t all = 0;
    for (const std::size_t key : which) all += columns.least[key] + (key > 0 ? kGap : 0);
    for (c = next; c < head.size() && (c == next || all + kGap + columns.least[c] <= kTableWidth); ++c) {
      which.push_back(c);
      all += kGap + columns.least[c];
    }
    Columns part(which.size());
    for (std::size_t i = 0; i < which.size(); ++i) {
      part.width[i] = columns.width[which[i]];
      part.least[i] = columns.least[which[i]];
    }
    narrow(part);
    if (!text.empty()) text += '\n';
    text += lines_of(picked(head, which), part.width, nullptr);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      text += lines_of(picked(rows[r], which), part.width, colours.empty() ? nullptr : colours[r]);
    }
  }
  return text;
}

}  // namespace berth::report
