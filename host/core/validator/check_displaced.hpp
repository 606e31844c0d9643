#pragma once

#include "berth/plan.hpp"
#include "host/core/base/violations.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Checks why jobs are displaced, of a whole plan whose policy, indices and places are right: docs/formats/plan.md says what of it.
/// O(displaced jobs); where one is displaced for a queue, O(jobs log jobs) and the shares of queues once.
void check_displaced(const StateImpl& state, const Plan& plan, Violations& found);

}  // namespace berth::core
