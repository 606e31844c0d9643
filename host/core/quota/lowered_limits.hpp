#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/base/problem.hpp"

namespace berth::core {

/// Whether some queue uses more than a limit of its own. O(queues * types).
bool exceeds_limits(const kernel::ProblemView& problem);

/// Queues that use more than a limit of theirs, because it was lowered while their jobs ran. They shrink as jobs end, or are displaced
/// for other queues; their own jobs take nothing from jobs that run (docs/quotas.md, "Lowered limits"). A limit of a GPU type counts for
/// jobs of that type.
class LoweredLimits {
 public:
  /// @returns whether there is such a queue. O(queues * types), and O(queues * types * depth) if there is.
  bool read(const kernel::ProblemView& problem);
  void clear() { any_ = false; }
  bool any() const { return any_; }
  /// After `read`: whether the queue (-1: none) or one above it uses more than a limit that counts for GPUs of a type (-1: of several).
  bool is_below(std::int32_t queue, std::int32_t gpu_type) const { return any_ && queue >= 0 && marks_[at(queue, gpu_type)] != 0; }
  /// The same of any limit.
  bool is_below(std::int32_t queue) const;
  /// After `read`: whether a job of the queue may displace others for GPUs of a type. One that its queue is entitled to takes from jobs
  /// of other queues what is above the limit of a queue over both.
  bool may_displace(std::int32_t queue, std::int32_t gpu_type, bool is_entitled) const {
    return !is_below(queue, gpu_type) || (is_entitled && marks_[at(queue, gpu_type)] != kItself);
  }

 private:
  static constexpr std::uint8_t kAbove = 1, kItself = 2;
  std::size_t at(std::int32_t queue, std::int32_t gpu_type) const {
    const std::int32_t column = gpu_type < 0 ? columns_ - 1 : gpu_type;
    return static_cast<std::size_t>(queue) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column);
  }
  bool any_ = false;
  std::int32_t columns_ = 0;         // GPU types, and all together
  std::vector<std::uint8_t> marks_;  // [queues * columns] read only where there is such a queue
};

}  // namespace berth::core
