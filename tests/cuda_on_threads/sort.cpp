#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/cuda_on_threads/include/cub/device/device_radix_sort.cuh"
#include "tests/cuda_on_threads/runtime.hpp"

/// The stable sort of pairs. It needs its room on the device, and leaves rubbish there.
namespace berth::cuda_on_threads {

cudaError_t sort_pairs(void* room, std::size_t& bytes, const std::int64_t* keys, std::int64_t* sorted_keys, const std::int32_t* values,
                       std::int32_t* sorted_values, int n, int begin_bit, int end_bit, cudaStream_t stream) {
  return call("cub::DeviceRadixSort::SortPairs", Needs::kContext, [&](Runtime& runtime, Device& device) {
    const auto items = static_cast<std::size_t>(n);
    const std::size_t needed = 256 + items * (sizeof(*keys) + sizeof(*values));
    if (room == nullptr) {
      bytes = needed;
      return cudaSuccess;
    }
    const Arena& arena = *device.arena;
    const bool valid = begin_bit == 0 && end_bit == 64 && bytes >= needed && arena.holds(room, needed) &&
                       arena.holds(keys, items * sizeof(*keys)) && arena.holds(sorted_keys, items * sizeof(*keys)) &&
                       arena.holds(values, items * sizeof(*values)) && arena.holds(sorted_values, items * sizeof(*values));
    if (!valid) return cudaErrorInvalidValue;
    return enqueue(runtime, stream, {[=, &runtime] {
                     ++runtime.counts.sorts;
                     std::vector<std::size_t> order(items);
                     std::iota(order.begin(), order.end(), std::size_t{0});
                     std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
                     std::memset(room, 0x5a, needed);
                     for (std::size_t i = 0; i < items; ++i) {
                       sorted_keys[i] = keys[order[i]];
                       sorted_values[i] = values[order[i]];
                     }
                     return cudaSuccess;
                   }});
  });
}

}  // namespace berth::cuda_on_threads
