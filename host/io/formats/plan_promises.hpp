#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "berth/engine.hpp"
#include "berth/plan.hpp"

namespace berth::io {

inline constexpr std::int64_t kWarnedOf = -1, kBrokenPromise = -2;  ///< in place of an instant

/// By id of jobs with deadlines: until when the end is promised, in microseconds; kWarnedOf: accepted without a promise.
using Promises = std::map<std::string, std::int64_t>;

/// What a policy that promises deadlines keeps of them (docs/genie.md); null: nothing.
const Promises* promises_of(const PolicyState& kept);

/// `to_json` of a plan, with what is promised. @param promises  of jobs of the state; null: none
std::string plan_json(const Plan& plan, const ClusterState& state, bool with_timing, const Promises* promises);
/// `parse_plan`, with what is promised.
Plan parse_plan(std::string_view json, const ClusterState& state, const std::string& name, Promises& promises);

}  // namespace berth::io
