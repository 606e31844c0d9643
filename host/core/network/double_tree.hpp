#pragma once

#include <cstdint>

/// The double binary tree of NCCL (src/graph/trees.cc): two trees over positions 0 to n - 1. In both together a position has at
/// most four neighbours.
namespace berth::core {

/// Above a position of 1 to n - 1 in the first tree, of which 0 is the root. Odd positions are leaves. O(1).
constexpr std::int64_t first_tree_parent(std::int64_t position, std::int64_t n) {
  const std::int64_t lowest = position & -position;
  const std::int64_t without = position ^ lowest;
  const std::int64_t up = without | (lowest << 1);
  return up < n ? up : without;
}

/// The place in the second tree of what has `position` in the first: mirrored where n is even, else one further. O(1).
constexpr std::int64_t second_tree_position(std::int64_t position, std::int64_t n) {
  return n % 2 == 0 ? n - 1 - position : (position + 1) % n;
}

}  // namespace berth::core
