#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/placement/final_state.hpp"
#include "host/core/placement/gang_repair.hpp"

namespace berth::core {

/// Jobs that lost GPUs, before a scheduling pass: gangs are repaired, and the other jobs give up all that they hold, in job
/// rank order (docs/placement.md, section 8). Memory is kept between decisions.
class Failures {
 public:
  /// O(nodes) where some job lost GPUs.
  /// @param taken  GPUs that repairs may not use either. They are removed only in a problem with failures; otherwise
  /// the pass takes them.
  void find(const StateImpl& state, std::span<const kernel::TakenRow> taken = {});

  bool any() const { return !jobs_.empty(); }
  /// All of them, by job rank.
  std::span<const std::int32_t> jobs() const { return jobs_; }
  const std::vector<std::uint8_t>& lost() const { return lost_; }          // [jobs of the state] 1: could not be repaired
  const std::vector<std::int32_t>& repaired() const { return repaired_; }  // [jobs of the state] index in `repairs`, or -1
  const std::vector<std::vector<PlanEntry>>& repairs() const { return repairs_; }
  /// Rate of a repaired job with the members and at the places that it has then.
  std::int64_t rate(const StateImpl& state, std::int32_t job) const;
  /// Run time that is left to it so. kNever: not known, and no time limit.
  TimeUs run_left(const StateImpl& state, std::int32_t job) const;
  /// The state's problem with what is free and used afterwards. What jobs hold is as before. Valid until the state changes or
  /// the next `find`.
  const kernel::ProblemView& problem() const { return problem_; }

 private:
  void clear();

  kernel::ProblemView problem_{};
  FinalState before_;  // with repaired and lost jobs taken into account
  GangRepair gang_repair_;
  std::vector<std::int32_t> jobs_;
  std::vector<std::uint8_t> lost_;
  std::vector<std::int32_t> repaired_;
  std::vector<std::vector<PlanEntry>> repairs_;
};

}  // namespace berth::core
