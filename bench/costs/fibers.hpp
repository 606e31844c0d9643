#pragma once

#include <cstdint>
#include <functional>

#include "bench/costs/counts.hpp"
#include "berth/kernel/base/group.hpp"

namespace berth::bench {

/// The block size of cuda/tuning.hpp.
inline constexpr std::int32_t kThreads = 128;

/// A thread block whose threads run in turn on one thread of the processor, each until its next barrier: a
/// kernel::SerialGroup that counts. As in cuda/block_group.cuh every collective is one barrier.
class CountedGroup {
 public:
  explicit CountedGroup(std::int32_t rank) : rank_(rank) {}
  std::int32_t rank() const { return rank_; }
  std::int32_t size() const { return kThreads; }
  void sync();
  kernel::Key min(kernel::Key v);
  std::int64_t sum(std::int64_t v);
  std::int64_t scan(std::int64_t v, std::int64_t& total);
  bool any(bool v);

 private:
  std::int32_t rank_;
};

/// Runs body(rank) once for each thread of a block.
void run_fibers(const std::function<void(std::int32_t)>& body);
std::int32_t current_fiber();
Range fiber_stacks();

}  // namespace berth::bench
