#pragma once

#include <cstdint>

#include "berth/plan.hpp"
#include "berth/state.hpp"

namespace berth::report {

/// GPUs that no job of a plan has and that it could give to none. The first two are beyond Totals::gpus, the last is part of it.
struct WithheldGpus {
  std::int64_t held_by_others = 0;  ///< being released by jobs that the state does not have
  std::int64_t failed = 0;          ///< or on failed nodes
  std::int64_t closed = 0;          ///< on nodes that take no new jobs: drained, spare, being released, not there yet or gone already
};

/// `plan` is one of this state.
WithheldGpus withheld_gpus(const ClusterState& state, const Plan& plan);

}  // namespace berth::report
