#include "host/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace berth::report {

std::string table(const Row& head, const std::vector<Row>& rows, const std::vector<const char*>& colours) {
  std::vector<std::size_t> width(head.size());
  for (std::size_t c = 0; c < head.size(); ++c) {
    width[c] = head[c].size();
    for (const Row& row : rows) width[c] = std::max(width[c], row[c].size());
  }
  const auto line = [&](const Row& row) {
    std::string text;
    for (std::size_t c = 0; c < row.size(); ++c) text += c + 1 < row.size() ? fmt::format("{:<{}}  ", row[c], width[c]) : row[c];
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string text = line(head) + "\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += colours.empty() ? line(rows[r]) + "\n" : fmt::format("{}{}\x1b[0m\n", colours[r], line(rows[r]));
  }
  return text;
}

}  // namespace berth::report
