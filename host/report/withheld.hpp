#pragma once

#include <cstdint>

#include "berth/plan.hpp"
#include "berth/state.hpp"

namespace berth::report {

/// GPUs that no job of a plan holds and that the plan could not give to any. The first two are not in Totals::gpus, the
/// last one is.
struct WithheldGpus {
  std::int64_t held_by_others = 0;  ///< being released by jobs outside the state
  std::int64_t failed = 0;          ///< or on failed nodes
  std::int64_t closed = 0;          ///< on nodes that accept no new jobs: drained, spare, being released, not yet or no longer available
};

/// `plan` is one of this state.
WithheldGpus withheld_gpus(const ClusterState& state, const Plan& plan);

}  // namespace berth::report
