#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cuda/launch.cuh"

namespace berth::cuda {

inline constexpr int kForEachThreads = 256;

template <class Body>
__global__ void __launch_bounds__(kForEachThreads) for_each_n_kernel(std::int64_t n, const __grid_constant__ Body body) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) body(i);
}

/// Runs body(i) once for each i in [0, n), in any order; ordered on `stream`.
template <class Body>
void for_each_n(cudaStream_t stream, std::int64_t n, const Body& body, const char* what) {
  static_assert(std::is_trivially_copyable_v<Body>, "a body is passed to the kernel by value");
  if (n == 0) return;  // an empty grid is a launch error, but an empty batch is valid
  const auto grid = static_cast<unsigned>(std::min<std::int64_t>((n + kForEachThreads - 1) / kForEachThreads, 65535));
  launch(for_each_n_kernel<Body>, grid, kForEachThreads, 0, stream)(n, body);
  check_launch(stream, what);
}

}  // namespace berth::cuda
