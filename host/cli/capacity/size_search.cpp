#include "host/cli/capacity/size_search.hpp"

#include <algorithm>

namespace berth::cli {
namespace {

// Sizes strictly between two others, as evenly as it goes.
std::vector<std::int64_t> between(std::int64_t low, std::int64_t high, std::int64_t count) {
  const std::int64_t gap = high - low, parts = std::min(count, gap - 1) + 1;
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 1; i < parts; ++i) sizes.push_back(low + gap / parts * i + gap % parts * i / parts);
  return sizes;
}

// Twice as many; with several at once, also half way there.
std::vector<std::int64_t> above(std::int64_t low, const SizeRange& range) {
  const std::int64_t next = std::min(range.to, std::max(low + 1, low > range.to / 2 ? range.to : 2 * low));
  std::vector<std::int64_t> sizes;
  if (range.at_once > 1 && next - low > 1) sizes.push_back(low + (next - low) / 2);
  sizes.push_back(next);
  return sizes;
}

std::vector<std::int64_t> below(std::int64_t high, const SizeRange& range) {
  const std::int64_t next = std::max(range.from, high / 2);
  std::vector<std::int64_t> sizes{next};
  if (range.at_once > 1 && high - next > 1) sizes.push_back(next + (high - next) / 2);
  return sizes;
}

}  // namespace

SizeStep next_sizes(const SizeRange& range, const std::map<std::int64_t, bool>& holds) {
  const auto in_range = [&](std::int64_t size) { return size >= range.from && size <= range.to; };
  std::optional<std::int64_t> fails, enough;  // the largest that fails, and the smallest above it that holds
  for (const auto& [size, held] : holds) {
    if (!in_range(size)) continue;
    if (!held) {
      fails = size;
      enough.reset();
    } else if (!enough) {
      enough = size;
    }
  }
  if (!fails && !enough) return {{std::clamp(range.start, range.from, range.to)}, {}};
  if (!enough) {
    if (*fails == range.to) return {};
    if (!range.to_is_enough) return {above(*fails, range), {}};
    if (range.to - *fails > 1) return {between(*fails, range.to, range.at_once), {}};
    return {{range.to}, {}};
  }
  if (!fails && *enough > range.from) return {below(*enough, range), {}};
  if (fails && *enough - *fails > 1) return {between(*fails, *enough, range.at_once), {}};
  // The next smaller size fails, or is not allowed.
  if (*enough < range.to && holds.count(*enough + 1) == 0) return {{*enough + 1}, {}};
  return {{}, enough};
}

std::optional<std::pair<std::int64_t, std::int64_t>> worse_with_more(const std::map<std::int64_t, bool>& holds) {
  std::optional<std::int64_t> good;
  std::optional<std::pair<std::int64_t, std::int64_t>> found;
  for (const auto& [size, held] : holds) {
    if (held && !good) good = size;
    if (!held && good) found = {*good, size};
  }
  return found;
}

}  // namespace berth::cli
