#pragma once

#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/plan.hpp"
#include "berth/state.hpp"

namespace berth::bench {

/// Ends the process with the text unless `ok`: a benchmark whose answer is wrong has no time worth reporting.
void require(bool ok, const std::string& what);

/// The plan is what the validator accepts.
void require_valid(const ClusterState& state, const Plan& plan);

/// The reference answers the request alike.
void require_equal_to_reference(const ClusterState& state, Request request, const Plan& plan);

}  // namespace berth::bench
