#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"

namespace berth::core {

/// The waiting jobs that can run, as a policy orders them now: before quotas, and without a decision.
/// Policies that choose shapes order none: theirs is by (submit, id).
/// @param policy_state  of the last decision
/// @throws InvalidArgument for an unknown policy or parameter
std::vector<std::int32_t> waiting_order(const ClusterState& state, const Request& request, const PolicyState& policy_state);

}  // namespace berth::core
