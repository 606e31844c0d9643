#pragma once

#include "berth/plan.hpp"
#include "host/core/base/violations.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Whether a reason says that the queue of a waiting job is entitled to it, and that no jobs that may be displaced for it make room.
bool says_entitled(const Reason& reason);

/// Checks each such reason: after the plan, and without all jobs that may be displaced, the job still finds no room. Shares of queues are
/// those of QueueShares; the rest is counted again. O(jobs log jobs + such jobs * nodes * levels).
void check_entitled(const StateImpl& state, const Plan& plan, Violations& found);

}  // namespace berth::core
