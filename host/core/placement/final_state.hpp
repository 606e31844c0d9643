#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "host/core/model/capacity.hpp"

namespace berth::core {

/// Free GPUs, cores, memory, shares and queue usage after a scheduling pass, kept separately from its problem for later
/// steps.
class FinalState {
 public:
  /// Starts from the values of the problem.
  void begin(const kernel::ProblemView& problem);

  /// A running job leaves.
  void release(std::int32_t job);
  /// Members of a demand's row take GPUs.
  void take(const kernel::DemandRow& demand, const kernel::PlacedRow& entry);
  /// The queue of a job and all its ancestors hold N more GPUs of a type.
  void charge_queue(std::int32_t job, std::int32_t gpu_type, std::int64_t quota);

  /// The problem with this state's columns in place of its own.
  kernel::ProblemView view() const;
  SupplyView supply() const;
  const std::vector<std::int64_t>& queue_used() const { return queue_used_; }
  std::vector<std::uint64_t>& free() { return free_; }
  std::vector<std::uint64_t>& spare() { return spare_; }
  std::vector<std::int64_t>& cpu() { return cpu_; }
  std::vector<std::int64_t>& memory() { return memory_; }

 private:
  void own_shares();
  const std::int32_t* used_ppm() const { return owns_shares_ ? used_ppm_.data() : problem_->gpu_used_ppm; }
  const std::int64_t* used_memory() const { return owns_shares_ ? used_memory_.data() : problem_->gpu_used_memory; }

  const kernel::ProblemView* problem_ = nullptr;
  bool owns_shares_ = false;  // else shares are those of the problem, whose columns are long
  std::vector<std::uint64_t> free_, spare_;
  std::vector<std::int64_t> cpu_, memory_, used_memory_, queue_used_;
  std::vector<std::int32_t> used_ppm_;
};

}  // namespace berth::core
