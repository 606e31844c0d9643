#pragma once

#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/plan.hpp"
#include "berth/state.hpp"

namespace berth::bench {

/// Ends the process with the text unless `ok`: the time of a benchmark with a wrong result is meaningless.
void require(bool ok, const std::string& what);

/// The validator accepts the plan.
void require_valid(const ClusterState& state, const Plan& plan);

/// The reference gives the same plan.
void require_equal_to_reference(const ClusterState& state, Request request, const Plan& plan);

}  // namespace berth::bench
