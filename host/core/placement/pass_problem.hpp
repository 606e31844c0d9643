#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/placement/contention_waits.hpp"
#include "host/core/placement/delay_timers.hpp"
#include "host/core/placement/failures.hpp"
#include "host/core/placement/final_state.hpp"
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

  /// Under rules that change demands by timers alone, with the demands that jobs state; `narrow` gives some jobs theirs.
  void begin(const StateView& view, const PassRules& rules, const PolicyState& kept);
  void narrow(const StateImpl& state, std::span<const std::int32_t> jobs);

  /// Only the failures, as `build` finds them.
  const Failures& find_failures(const StateImpl& state) {
    failures_.find(state);
    return failures_;
  }

  /// After any build or pass on the same state.
  void follow_demands(const StateImpl& state) { core::follow_demands(state, view_); }

  /// Running jobs leave their GPUs before the pass: these, and no others, whatever the last call said. O(nodes)
  void give_up(const StateImpl& state, std::span<const std::int32_t> jobs);
  /// See DelayTimers::tighten; of a problem to which timers apply.
  bool tighten(const StateImpl& state, std::int32_t job) { return timers_.tighten(state, view_, job, cut_); }
  void loosen(std::int32_t job) { timers_.loosen(job, view_, cut_); }

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
  /// Jobs that ask for shares of GPUs ask for whole ones, on nodes that share: see GpuSharing. O(options)
  void widen_shares(const StateImpl& state);
  void cut(const StateImpl& state, const PassRules& rules, const PolicyState* kept);
  void find_failures_and_view(const StateView& view, std::span<const kernel::TakenRow> taken = {});
  void hold_repaired(const StateImpl& state);

  kernel::ProblemView view_{};
  kernel::ProblemView stays_{};  // while jobs have given up their GPUs: the same without that
  bool given_up_ = false;
  FinalState after_;  // without what they hold
  Failures failures_;
  Consolidator consolidator_;
  ContentionWaits waits_;
  DelayTimers timers_;
  bool cuts_ = false;  // demands are changed
  std::vector<kernel::OptionRow> cut_;
  std::vector<std::int32_t> held_begin_;  // what jobs hold after repairs, as in the problem
  std::vector<kernel::HeldRow> held_;
};

}  // namespace berth::core
