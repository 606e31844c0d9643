#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cuda/check.hpp"

namespace berth::cuda {

/// Checks a launch. Debug builds also wait for it, so that a fault is reported where it happened.
inline void check_launch(cudaStream_t stream, const char* what, std::source_location at = std::source_location::current()) {
  check(cudaGetLastError(), what, at);
#ifndef NDEBUG
  check(cudaStreamSynchronize(stream), what, at);
#else
  (void)stream;
#endif
}

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
  for_each_n_kernel<<<grid, kForEachThreads, 0, stream>>>(n, body);
  check_launch(stream, what);
}

}  // namespace berth::cuda
