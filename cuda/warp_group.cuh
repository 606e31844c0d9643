#pragma once

#include <cstdint>
#include <cub/util_ptx.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#include "berth/kernel/base/group.hpp"
#include "cuda/block_group.cuh"

namespace berth::cuda {

/// The greater number.
struct Greater {
  __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a < b ? b : a; }
};

/// A thread block of one warp as a kernel::SerialGroup. Collectives are shuffles.
class WarpGroup {
 public:
  static constexpr int kThreads = 32;  // of the block
  /// Whole warps shuffle and store nothing here, but CUB requires the objects.
  struct Shared {
    typename cub::WarpReduce<kernel::Key>::TempStorage key_reduce;
    typename cub::WarpReduce<std::int64_t>::TempStorage sum_reduce;
    typename cub::WarpScan<std::int64_t>::TempStorage sum_scan;
  };

  __device__ explicit WarpGroup(Shared& shared) : shared_(&shared) {}

  __device__ std::int32_t rank() const { return static_cast<std::int32_t>(threadIdx.x); }
  __device__ std::int32_t size() const { return kThreads; }
  __device__ void sync() { __syncwarp(); }

  __device__ kernel::Key min(kernel::Key v) { return of_first(cub::WarpReduce<kernel::Key>(shared_->key_reduce).Reduce(v, LesserKey{})); }
  __device__ std::uint32_t min(std::uint32_t v) {
    v = __reduce_min_sync(kAll, v);
    __syncwarp();
    return v;
  }
  __device__ std::int64_t sum(std::int64_t v) { return of_first(cub::WarpReduce<std::int64_t>(shared_->sum_reduce).Sum(v)); }
  __device__ std::int64_t scan(std::int64_t v, std::int64_t& total) {
    std::int64_t before;
    cub::WarpScan<std::int64_t>(shared_->sum_scan).ExclusiveSum(v, before, total);
    __syncwarp();
    return before;
  }
  __device__ std::int64_t scan_max(std::int64_t v, std::int64_t& greatest) {
    std::int64_t before;
    cub::WarpScan<std::int64_t>(shared_->sum_scan).ExclusiveScan(v, before, INT64_MIN, Greater{}, greatest);
    __syncwarp();
    return before;
  }
  __device__ bool any(bool v) { return sum(v ? 1 : 0) != 0; }

 private:
  static constexpr unsigned kAll = 0xffffffff;

  // As a barrier of the warp, too: what a lane wrote before is seen by all after it.
  template <class T>
  __device__ T of_first(T v) {
    v = cub::ShuffleIndex<kThreads>(v, 0, kAll);
    __syncwarp();
    return v;
  }

  Shared* shared_;
};

}  // namespace berth::cuda
