#include "host/core/base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace berth::core {
namespace {

constexpr std::size_t kLongestWord = 64;  // a longer word is no typing mistake

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Letters to insert, remove, replace, and neighbours to swap; large and small ones count as the same.
std::size_t distance(std::string_view word, std::string_view name) {
  std::string a(word), b(name);
  std::transform(a.begin(), a.end(), a.begin(), lower);
  std::transform(b.begin(), b.end(), b.begin(), lower);
  std::vector<std::size_t> before, last, row(b.size() + 1);  // [b + 1] for the first i - 1, i, i + 1 letters of `a`
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::move(last);
    last = row;
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names) {
  if (word.size() > kLongestWord) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view name : names) {
    const std::size_t d = distance(word, name);
    if (d < best_distance) {
      best = name;
      best_distance = d;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view near = nearest_name(word, names);
  return near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near);
}

}  // namespace berth::core
