#pragma once

#include <cstdint>
#include <functional>

#include "bench/costs/counts.hpp"
#include "berth/kernel/base/group.hpp"

namespace berth::bench {

/// Threads of a block at most.
inline constexpr std::int32_t kMostThreads = 128;
/// Threads of a group: BERTH_COSTS_THREADS, 32 for a warp, or else 128, the block size of cuda/tuning.hpp.
std::int32_t group_threads();

/// A thread block whose threads run in turn on one thread of the processor, each until its next barrier: a
/// kernel::SerialGroup that counts. As in cuda/block_group.cuh every collective is one barrier. A barrier of a warp is none
/// of the block.
class CountedGroup {
 public:
  explicit CountedGroup(std::int32_t rank) : rank_(rank) {}
  std::int32_t rank() const { return rank_; }
  std::int32_t size() const { return group_threads(); }
  void sync();
  kernel::Key min(kernel::Key v);
  std::uint32_t min(std::uint32_t v);
  std::int64_t sum(std::int64_t v);
  std::int64_t scan(std::int64_t v, std::int64_t& total);
  std::int64_t scan_max(std::int64_t v, std::int64_t& greatest);
  bool any(bool v);

 private:
  std::int32_t rank_;
};

/// Runs body(rank) once for each thread of a block.
void run_fibers(const std::function<void(std::int32_t)>& body);
std::int32_t current_fiber();
Range fiber_stacks();

}  // namespace berth::bench
