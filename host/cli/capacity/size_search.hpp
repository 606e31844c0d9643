#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

/// Which sizes of a cluster are to be tried, so that the smallest one that is enough is found.
namespace berth::cli {

struct SizeRange {
  std::int64_t from = 1, to = 1;  ///< sizes that are allowed
  std::int64_t start = 1;         ///< is tried first, within them
  std::int64_t at_once = 1;       ///< sizes that are tried together in a step
  bool to_is_enough = false;      ///< it is likely that `to` is, so that sizes below it are tried first
};

struct SizeStep {
  std::vector<std::int64_t> sizes;     ///< to be tried next; none: the search is over
  std::optional<std::int64_t> answer;  ///< once it is over; nothing: no size is enough
};

/// The next step, which depends on nothing but what is known. So a search that was interrupted goes on in the same way.
///
/// The answer is the smallest size that was tried and holds such that all larger ones that were tried hold; the next smaller and the next
/// larger size have been tried. Sizes between others are not: a size that holds may be followed by one that does not.
/// @param holds  by size, of those that were tried
SizeStep next_sizes(const SizeRange& range, const std::map<std::int64_t, bool>& holds);

/// A size that holds, and the largest one above it that does not: more nodes made it worse. Nothing: there is none.
std::optional<std::pair<std::int64_t, std::int64_t>> worse_with_more(const std::map<std::int64_t, bool>& holds);

}  // namespace berth::cli
