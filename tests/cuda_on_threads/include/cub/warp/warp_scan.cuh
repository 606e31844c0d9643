#pragma once

#include <cuda_runtime_api.h>

#include "warp.hpp"

/// CUB's scans of a whole warp, on threads of the host.
namespace cub {

template <class T>
class WarpScan {
 public:
  struct TempStorage {};
  explicit WarpScan(TempStorage& /*unused*/) {}

  void ExclusiveSum(T value, T& before, T& total) {
    const berth::cuda_on_threads::WarpValues<T> values(value);
    before = total = 0;
    for (int lane = 0; lane < berth::cuda_on_threads::kWarpLanes; ++lane) {
      if (lane == berth::cuda_on_threads::lane_of_thread()) before = total;
      total += values.of(lane);
    }
  }
  template <class Op>
  void ExclusiveScan(T value, T& before, T initial, Op op, T& total) {
    const berth::cuda_on_threads::WarpValues<T> values(value);
    before = initial;
    total = values.of(0);
    for (int lane = 1; lane < berth::cuda_on_threads::kWarpLanes; ++lane) {
      if (lane == berth::cuda_on_threads::lane_of_thread()) before = op(initial, total);
      total = op(total, values.of(lane));
    }
  }
};

}  // namespace cub
