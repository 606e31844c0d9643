#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/what_if.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

/// The effect of an edit on a job that both plans decide about; nothing where the answers are alike.
std::optional<EditEffect> effect_of(const JobAnswer& before, const JobAnswer& after);

/// GPUs of a decision that keeps, starts or moves a job, from the plan's instant on; else 0. Millionths.
std::int64_t gpus_ppm_of(const StateImpl& state, const Plan& plan, const Decision& decision);

/// The decision in full. @param reasons  also of jobs that wait
JobAnswer answer_of(const StateImpl& state, const Plan& plan, const Decision& decision, bool reasons);

/// GPUs of queues and those above them, by queue index; only those that differ from 0 need rows.
class QueueSums {
 public:
  /// Adds to a queue and all above it. -1: none.
  void add(const StateImpl& state, std::int32_t queue, std::int64_t gpus_ppm);
  void clear() { sum_.clear(); }
  std::int64_t of(std::int32_t queue) const {
    return static_cast<std::size_t>(queue) < sum_.size() ? sum_[static_cast<std::size_t>(queue)] : 0;
  }

 private:
  std::vector<std::int64_t> sum_;
};

}  // namespace berth::core
