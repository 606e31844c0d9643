#pragma once

#include <cstdint>
#include <cub/util_ptx.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#include "berth/kernel/base/group.hpp"

namespace berth::cuda {

/// The smaller key.
struct LesserKey {
  __device__ kernel::Key operator()(const kernel::Key& a, const kernel::Key& b) const { return b < a ? b : a; }
};

/// A thread block as a kernel::SerialGroup. One-dimensional blocks of 32, 64, ... 1024 threads, chosen at launch.
///
/// Every collective has one barrier. Warps reduce by shuffles and write their part to shared memory.
/// Then each warp reduces all parts itself. WarpGroup is simpler where there is one warp.
class BlockGroup {
  static constexpr int kWarp = 32;
  static constexpr unsigned kAll = 0xffffffff;
  using KeyReduce = cub::WarpReduce<kernel::Key>;
  using SumReduce = cub::WarpReduce<std::int64_t>;
  using SumScan = cub::WarpScan<std::int64_t>;

 public:
  /// In shared memory, one per block. Collectives alternate between the two rows.
  /// A row is written again only after the barrier of the next collective, when all threads have read it.
  struct Shared {
    kernel::Key key[2][kWarp];
    std::int64_t value[2][kWarp];
    // Whole warps shuffle and store nothing here, but CUB requires the objects.
    typename KeyReduce::TempStorage key_reduce;
    typename SumReduce::TempStorage sum_reduce;
    typename SumScan::TempStorage sum_scan;
  };

  __device__ explicit BlockGroup(Shared& shared) : shared_(&shared) {}

  __device__ std::int32_t rank() const { return static_cast<std::int32_t>(threadIdx.x); }
  __device__ std::int32_t size() const { return static_cast<std::int32_t>(blockDim.x); }
  __device__ void sync() { __syncthreads(); }

  __device__ kernel::Key min(kernel::Key v) {
    kernel::Key* parts = shared_->key[buffer_];
    buffer_ ^= 1;
    const kernel::Key part = KeyReduce(shared_->key_reduce).Reduce(v, LesserKey{});
    if (lane() == 0) parts[warp()] = part;
    __syncthreads();
    kernel::Key mine = kernel::kNoKey;
    if (lane() < warps()) mine = parts[lane()];
    return cub::ShuffleIndex<kWarp>(KeyReduce(shared_->key_reduce).Reduce(mine, LesserKey{}), 0, kAll);
  }
  __device__ std::uint32_t min(std::uint32_t v) {
    std::int64_t* parts = shared_->value[buffer_];
    buffer_ ^= 1;
    const std::uint32_t part = __reduce_min_sync(kAll, v);
    if (lane() == 0) parts[warp()] = part;
    __syncthreads();
    return __reduce_min_sync(kAll, lane() < warps() ? static_cast<std::uint32_t>(parts[lane()]) : UINT32_MAX);
  }
  __device__ std::int64_t sum(std::int64_t v) {
    std::int64_t* parts = shared_->value[buffer_];
    buffer_ ^= 1;
    const std::int64_t part = SumReduce(shared_->sum_reduce).Sum(v);
    if (lane() == 0) parts[warp()] = part;
    __syncthreads();
    const std::int64_t mine = lane() < warps() ? parts[lane()] : 0;
    return cub::ShuffleIndex<kWarp>(SumReduce(shared_->sum_reduce).Sum(mine), 0, kAll);
  }
  __device__ std::int64_t scan(std::int64_t v, std::int64_t& total) {
    std::int64_t* parts = shared_->value[buffer_];
    buffer_ ^= 1;
    std::int64_t before, part;
    SumScan(shared_->sum_scan).ExclusiveSum(v, before, part);
    if (lane() == 0) parts[warp()] = part;
    __syncthreads();
    const std::int64_t mine = lane() < warps() ? parts[lane()] : 0;
    std::int64_t warps_before;
    SumScan(shared_->sum_scan).ExclusiveSum(mine, warps_before, total);
    return before + cub::ShuffleIndex<kWarp>(warps_before, warp(), kAll);
  }
  __device__ bool any(bool v) { return __syncthreads_or(v ? 1 : 0) != 0; }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kWarp; }
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / kWarp; }
  __device__ static int warps() { return static_cast<int>(blockDim.x) / kWarp; }

  Shared* shared_;
  int buffer_ = 0;
};

}  // namespace berth::cuda
