#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace berth::core {

inline constexpr std::size_t kMostHistory = 1000;

/// The scores at which a search changed, with their generations: at most kMostHistory, evenly spaced, and the last one.
/// @param scores  of generations `first`, first + 1, ...
inline void set_history(std::span<const std::int64_t> scores, std::int64_t first,
                        std::vector<std::pair<std::int64_t, std::int64_t>>& history) {
  history.clear();
  std::size_t changes = 0;
  const auto changed = [&](std::size_t i) { return i == 0 || scores[i] != scores[i - 1]; };
  for (std::size_t i = 0; i < scores.size(); ++i) changes += changed(i) ? 1 : 0;
  const std::size_t every = (changes + kMostHistory - 1) / kMostHistory;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!changed(i)) continue;
    ++seen;
    if ((seen - 1) % every == 0 || seen == changes) history.emplace_back(first + static_cast<std::int64_t>(i), scores[i]);
  }
}

}  // namespace berth::core
