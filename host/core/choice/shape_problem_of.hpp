#pragma once

#include "host/core/choice/shape_problem.hpp"
#include "host/core/policy_api/chosen_policy.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// The options that a shape policy may choose from in a state, computed from scratch: for checking a decision or
/// exporting its problem.
ShapeProblem shape_problem_of(const StateImpl& state, const ChosenPolicy& chosen);

}  // namespace berth::core
