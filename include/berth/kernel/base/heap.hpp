#pragma once

#include <cstdint>

#include "berth/kernel/base/host_device.hpp"

/// A heap of keys with the greatest on top, used by one thread where a group sorts few keys.
namespace berth::kernel {

/// Moves the key at `i` down to its position in the heap.
BERTH_HD inline void sift_down(std::uint64_t* keys, std::int32_t n, std::int32_t i) {
  const std::uint64_t key = keys[i];
  for (std::int32_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
    if (child + 1 < n && keys[child] < keys[child + 1]) ++child;
    if (keys[child] <= key) break;
    keys[i] = keys[child];
    i = child;
  }
  keys[i] = key;
}

BERTH_HD inline void make_heap(std::uint64_t* keys, std::int32_t n) {
  for (std::int32_t i = n / 2; i-- > 0;) sift_down(keys, n, i);
}

/// Ascending.
BERTH_HD inline void heap_sort(std::uint64_t* keys, std::int32_t n) {
  make_heap(keys, n);
  while (n > 1) {
    const std::uint64_t top = keys[0];
    keys[0] = keys[--n];
    keys[n] = top;
    sift_down(keys, n, 0);
  }
}

}  // namespace berth::kernel
