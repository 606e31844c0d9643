#pragma once

#include <cstdint>

#include "berth/kernel/base/heap.hpp"
#include "berth/kernel/base/host_device.hpp"

/// Sorts by a group. CUB sorts as many keys as are known when a kernel is compiled; here each task has its own number.
namespace berth::kernel {

/// Ascending. All threads have met since the keys were written, and meet again at the end.
///
/// Many threads run a bitonic sort whose exchanges all put the greater key last. Keys beyond the last one, which would be the greatest,
/// then stay where they are and need not exist.
template <class Group>
BERTH_HD void group_sort(Group& g, std::uint64_t* keys, std::int32_t n) {
  if (g.size() == 1) {
    heap_sort(keys, n);
    return;
  }
  const auto exchange = [&](std::int32_t low, std::int32_t high) {
    const std::uint64_t a = keys[low], b = keys[high];
    if (a <= b) return;
    keys[low] = b;
    keys[high] = a;
  };
  // The pairs of a step: `half` in each whole block of twice that many keys, and what the last block has beyond its half.
  for (std::int32_t run = 0; std::int64_t{1} << run < n; ++run) {
    for (std::int32_t bit = run; bit >= 0; --bit) {
      const std::int32_t half = 1 << bit, rest = n & (2 * half - 1);
      const std::int32_t pairs = ((n >> (bit + 1)) << bit) + (rest > half ? rest - half : 0);
      for (std::int32_t i = g.rank(); i < pairs; i += g.size()) {
        const std::int32_t middle = ((i >> bit) << (bit + 1)) + half, in = i & (half - 1);
        // First two sorted runs face each other, so that pairs are as far from the middle on both sides.
        exchange(bit == run ? middle - 1 - in : middle - half + in, middle + in);
      }
      g.sync();
    }
  }
}

/// Orders keys as a heap, one level after the other. All threads have met since the keys were written, and meet again at the end.
template <class Group>
BERTH_HD void group_heap(Group& g, std::uint64_t* keys, std::int32_t n) {
  std::int32_t level = 1;  // its first key is at level - 1
  while (2 * level <= n / 2) level *= 2;
  for (; level > 0; level /= 2) {
    const std::int32_t end = 2 * level - 1 < n / 2 ? 2 * level - 1 : n / 2;
    for (std::int32_t i = level - 1 + g.rank(); i < end; i += g.size()) sift_down(keys, n, i);
    g.sync();
  }
}

}  // namespace berth::kernel
