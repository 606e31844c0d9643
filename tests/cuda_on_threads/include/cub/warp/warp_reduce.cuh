#pragma once

#include <cuda_runtime_api.h>

#include "warp.hpp"

/// CUB's reduction of a whole warp, on threads of the host. As there, only lane 0 has the result.
namespace cub {

template <class T>
class WarpReduce {
 public:
  struct TempStorage {};
  explicit WarpReduce(TempStorage& /*unused*/) {}

  template <class Op>
  T Reduce(T value, Op op) {
    const berth::cuda_on_threads::WarpValues<T> values(value);
    if (berth::cuda_on_threads::lane_of_thread() != 0) return berth::cuda_on_threads::undefined_value<T>();
    for (int lane = 1; lane < berth::cuda_on_threads::kWarpLanes; ++lane) value = op(value, values.of(lane));
    return value;
  }
  T Sum(T value) {
    return Reduce(value, [](T a, T b) { return a + b; });
  }
};

}  // namespace cub
