#pragma once

#include <vector>

#include "berth/delta.hpp"
#include "berth/plan.hpp"
#include "berth/state.hpp"

namespace berth::core {

/// What `commit` applies: everything that jobs give back, then what starts. @throws as `commit`
std::vector<Delta> commit_deltas(const ClusterState& state, const Plan& plan);

}  // namespace berth::core
