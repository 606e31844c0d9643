#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/placement/contention_waits.hpp"
#include "host/core/placement/delay_timers.hpp"
#include "host/core/placement/failures.hpp"
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
  /// @param kept   of the policy: since when gangs wait for less contention, and how long jobs waited for places; null: nothing yet
  void build(const StateView& view, const PassRules& rules, std::span<const kernel::TakenRow> taken = {},
             const PolicyState* kept = nullptr);

  /// Only the failures, as `build` finds them.
  const Failures& find_failures(const StateImpl& state) {
    failures_.find(state);
    return failures_;
  }

  /// After any build or pass on the same state.
  void follow_demands(const StateImpl& state) { core::follow_demands(state, view_); }

  /// Valid until the state changes or the next build.
  const kernel::ProblemView& view() const { return view_; }
  const Failures& failures() const { return failures_; }
  /// Of a problem for `packing=contention`.
  ContentionWaits& waits() { return waits_; }
  /// Of a problem to which timers apply.
  DelayTimers& timers() { return timers_; }
  const std::vector<std::uint8_t>& lost() const { return failures_.lost(); }
  const std::vector<std::int32_t>& repaired() const { return failures_.repaired(); }
  const std::vector<std::vector<PlanEntry>>& repairs() const { return failures_.repairs(); }

 private:
  void cut(const StateImpl& state, const PassRules& rules, const PolicyState* kept);
  void hold_repaired(const StateImpl& state);

  kernel::ProblemView view_{};
  Failures failures_;
  Consolidator consolidator_;
  ContentionWaits waits_;
  DelayTimers timers_;
  std::vector<kernel::OptionRow> cut_;
  std::vector<std::int32_t> held_begin_;  // what jobs hold after repairs, as in the problem
  std::vector<kernel::HeldRow> held_;
};

}  // namespace berth::core
