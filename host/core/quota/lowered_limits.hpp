#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/base/problem.hpp"

namespace berth::core {

/// Queues that use more than a limit of theirs, because it was lowered while their jobs ran. They shrink as jobs end, or are displaced
/// for other queues; their own jobs take nothing from jobs that run (docs/quotas.md, "Lowered limits").
class LoweredLimits {
 public:
  /// @returns whether there is such a queue. O(queues * types), and O(queues * depth) if there is.
  bool read(const kernel::ProblemView& problem);
  void clear() { any_ = false; }
  bool any() const { return any_; }
  /// After `read`: whether the queue (-1: none) or one above it uses more than a limit.
  bool is_below(std::int32_t queue) const { return any_ && queue >= 0 && marks_[static_cast<std::size_t>(queue)] != 0; }
  /// After `read`: whether a job of the queue may displace others. One that its queue is entitled to takes from jobs of other queues
  /// what is above the limit of a queue over both.
  bool may_displace(std::int32_t queue, bool is_entitled) const {
    return !is_below(queue) || (is_entitled && marks_[static_cast<std::size_t>(queue)] != kItself);
  }

 private:
  static constexpr std::uint8_t kAbove = 1, kItself = 2;
  bool any_ = false;
  std::vector<std::uint8_t> marks_;  // [queues] read only where there is such a queue
};

}  // namespace berth::core
