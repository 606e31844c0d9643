#pragma once

#include <cuda_runtime_api.h>

#include "warp.hpp"

/// CUB's shuffle, on threads of the host: the value of one lane, in all lanes of a whole warp.
namespace cub {

template <int kThreads, class T>
T ShuffleIndex(T value, int lane, unsigned mask) {
  static_assert(kThreads == berth::cuda_on_threads::kWarpLanes);
  static_cast<void>(mask);
  return berth::cuda_on_threads::WarpValues<T>(value).of(lane);
}

}  // namespace cub
