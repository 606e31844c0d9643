#pragma once

#include <cstdint>
#include <vector>

#include "berth/engine.hpp"

namespace berth::report {

/// The best score of the search from this time after the call on.
struct ValueStep {
  double seconds = 0;
  std::int64_t score = 0;
  bool operator==(const ValueStep&) const = default;
};

/// How the best score of one decision's search grew with time.
struct ValueOverTime {
  std::vector<ValueStep> steps;  ///< by time; a policy without a history has one step, its plan, at the end
  std::int64_t value = 0;        ///< of the plan, by its objective
  std::int64_t bound = 0;
  double seconds = 0;            ///< of the whole decision
  double searched_s = 0;         ///< until the search was cut, before the plan is made of its best; `seconds` where it was not cut
  std::int64_t generations = 0;  ///< without the initial plan
};

/// Observes one decision: Plan::history gives the score by generation, Request::progress the time of each generation. A
/// generation without a call (the last of a search that was not cut) gets the time of the decision's end.
/// @param request  its own `progress` is still called, and may stop the search
/// @throws what Engine::decide throws
ValueOverTime value_over_time(Engine& engine, const ClusterState& state, PolicyState& policy_state, const Request& request, Plan& plan);

}  // namespace berth::report
