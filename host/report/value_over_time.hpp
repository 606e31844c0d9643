#pragma once

#include <cstdint>
#include <vector>

#include "berth/engine.hpp"

namespace berth::report {

/// From so many seconds after the call on, the best that the search had was of this score.
struct ValueStep {
  double seconds = 0;
  std::int64_t score = 0;
  bool operator==(const ValueStep&) const = default;
};

/// How the best of one decision's search grew with time.
struct ValueOverTime {
  std::vector<ValueStep> steps;  ///< by time; a policy without a history has one, its plan, when it was there
  std::int64_t value = 0;        ///< of the plan, by its objective
  std::int64_t bound = 0;
  double seconds = 0;            ///< of the whole decision
  double searched_s = 0;         ///< until the search was cut; what follows makes a plan of its best. `seconds` where it was not
  std::int64_t generations = 0;  ///< made; the beginning is none
};

/// One decision, watched: Plan::history says after which generation the score was which, Request::progress when that was.
/// A generation after which nobody asked (the last of a search that was not cut) counts from the decision's end.
/// @param request  its own `progress` is called as ever, and may stop the search
/// @throws what Engine::decide throws
ValueOverTime value_over_time(Engine& engine, const ClusterState& state, PolicyState& policy_state, const Request& request, Plan& plan);

}  // namespace berth::report
