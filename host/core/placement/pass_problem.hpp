#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/placement/final_state.hpp"
#include "host/core/placement/gang_repair.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// Sets the demands of a view of the state's problem again: narrowed demands are added to their table, which may have been
/// reallocated.
void follow_demands(const StateImpl& state, kernel::ProblemView& view);

/// The problem of a scheduling pass: the state's, with gangs on failed GPUs repaired where possible. Others are marked
/// to be placed again, and demands are changed as placement and policy require.
class PassProblem {
 public:
  /// @param taken  GPUs that repairs may not use either. They are removed only in a problem with failures; otherwise
  /// the pass takes them.
  void build(const StateView& view, const PassRules& rules, std::span<const kernel::TakenRow> taken = {});

  /// After any build or pass on the same state.
  void follow_demands(const StateImpl& state) { core::follow_demands(state, view_); }

  /// Valid until the state changes or the next build.
  const kernel::ProblemView& view() const { return view_; }
  const std::vector<std::uint8_t>& lost() const { return lost_; }  // [jobs of the state] 1: runs on failed GPUs and could not be repaired
  const std::vector<std::int32_t>& repaired() const { return repaired_; }  // [jobs of the state] index in `repairs`, or -1
  const std::vector<std::vector<PlanEntry>>& repairs() const { return repairs_; }

 private:
  void cut(const StateImpl& state, const PassRules& rules);
  void hold_repaired(const StateImpl& state);
  bool find_failures(const StateImpl& state, std::span<const kernel::TakenRow> taken);

  kernel::ProblemView view_{};
  FinalState before_;  // with repaired and lost jobs taken into account
  GangRepair gang_repair_;
  std::vector<std::uint8_t> lost_;
  std::vector<std::int32_t> repaired_;
  bool marks_ = false;  // some job of `lost_` or `repaired_` may be marked
  std::vector<std::vector<PlanEntry>> repairs_;
  Consolidator consolidator_;
  std::vector<kernel::OptionRow> cut_;
  std::vector<std::int32_t> held_begin_;  // what jobs hold after repairs, as in the problem
  std::vector<kernel::HeldRow> held_;
};

}  // namespace berth::core
