#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

/// CUB's stable sort of pairs on the device, on threads of the host, for the one type that `cuda/` sorts.
namespace berth::cuda_on_threads {

cudaError_t sort_pairs(void* room, std::size_t& bytes, const std::int64_t* keys, std::int64_t* sorted_keys, const std::int32_t* values,
                       std::int32_t* sorted_values, int n, int begin_bit, int end_bit, cudaStream_t stream);

}  // namespace berth::cuda_on_threads

namespace cub {

struct DeviceRadixSort {
  static cudaError_t SortPairs(void* room, std::size_t& bytes, const std::int64_t* keys, std::int64_t* sorted_keys,
                               const std::int32_t* values, std::int32_t* sorted_values, int n, int begin_bit = 0, int end_bit = 64,
                               cudaStream_t stream = nullptr) {
    return berth::cuda_on_threads::sort_pairs(room, bytes, keys, sorted_keys, values, sorted_values, n, begin_bit, end_bit, stream);
  }
};

}  // namespace cub
