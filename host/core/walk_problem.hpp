#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/final_state.hpp"
#include "host/core/mend.hpp"
#include "host/core/policy.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// The problem that a walk sees: the state's, with jobs that hold failed GPUs mended where possible and else marked to be placed anew,
/// and with demands cut as placement and policy want them. Memory is kept between builds.
class WalkProblem {
 public:
  /// @param taken  GPUs that mending may not use either; they are cleared only in a problem that has failures: the walk takes them itself.
  void build(const StateImpl& state, const WalkRules& rules, std::span<const kernel::TakenRow> taken = {});

  /// After any build on the same state: consolidating adds to the table of demands, which may have moved.
  void follow_demands(const StateImpl& state);

  /// Valid until the state changes or the next build.
  const kernel::ProblemView& view() const { return view_; }
  const std::vector<std::uint8_t>& lost() const { return lost_; }      // [slots] 1: runs on failed GPUs and could not be mended
  const std::vector<std::int32_t>& mended() const { return mended_; }  // [slots] index in `mends`, or -1
  const std::vector<std::vector<PlanEntry>>& mends() const { return mends_; }

 private:
  void cut(const StateImpl& state, const WalkRules& rules);
  void hold_mended(const StateImpl& state);
  bool find_failures(const StateImpl& state, std::span<const kernel::TakenRow> taken);

  kernel::ProblemView view_{};
  FinalState before_;  // with mended and lost jobs taken into account
  Mender mender_;
  std::vector<std::uint8_t> lost_;
  std::vector<std::int32_t> mended_;
  std::vector<std::vector<PlanEntry>> mends_;
  Consolidator consolidator_;
  std::vector<kernel::OptionRow> cut_;
  std::vector<std::int32_t> held_begin_;  // what jobs hold when the mended ones are, as in the problem
  std::vector<kernel::HeldRow> held_;
};

}  // namespace berth::core
