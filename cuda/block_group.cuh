#pragma once

#include <cstdint>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "berth/kernel/group.hpp"

namespace berth::cuda {

/// The lesser key.
struct LesserKey {
  __device__ kernel::Key operator()(const kernel::Key& a, const kernel::Key& b) const { return b < a ? b : a; }
};

/// A thread block as a kernel::SerialGroup. kThreads = blockDim.x; one-dimensional blocks only.
template <int kThreads>
class BlockGroup {
  using KeyReduce = cub::BlockReduce<kernel::Key, kThreads>;
  using Sum = cub::BlockReduce<std::int64_t, kThreads>;
  using Scan = cub::BlockScan<std::int64_t, kThreads>;

 public:
  /// In shared memory, one for the block.
  struct Shared {
    union {
      typename KeyReduce::TempStorage key_reduce;
      typename Sum::TempStorage sum;
      typename Scan::TempStorage scan;
    };
    // Results go to all threads through two places in turn: one is written again only after the barrier of the
    // collective in between, when all threads have read it.
    kernel::Key key[2];
    std::int64_t value[2];
  };

  __device__ explicit BlockGroup(Shared& shared) : shared_(&shared) {}

  __device__ std::int32_t rank() const { return static_cast<std::int32_t>(threadIdx.x); }
  __device__ std::int32_t size() const { return kThreads; }
  __device__ void sync() { __syncthreads(); }

  __device__ kernel::Key min(kernel::Key v) {
    const kernel::Key least = KeyReduce(shared_->key_reduce).Reduce(v, LesserKey{});
    turn_ ^= 1;
    if (threadIdx.x == 0) shared_->key[turn_] = least;
    __syncthreads();
    return shared_->key[turn_];
  }
  __device__ std::int64_t sum(std::int64_t v) {
    const std::int64_t total = Sum(shared_->sum).Sum(v);
    turn_ ^= 1;
    if (threadIdx.x == 0) shared_->value[turn_] = total;
    __syncthreads();
    return shared_->value[turn_];
  }
  __device__ std::int64_t scan(std::int64_t v, std::int64_t& total) {
    std::int64_t before;
    Scan(shared_->scan).ExclusiveSum(v, before, total);
    __syncthreads();  // the storage is used again, and a collective is a barrier
    return before;
  }
  __device__ bool any(bool v) { return __syncthreads_or(v ? 1 : 0) != 0; }

 private:
  Shared* shared_;
  int turn_ = 0;
};

}  // namespace berth::cuda
