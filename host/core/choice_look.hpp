#pragma once

#include "host/core/chosen_policy.hpp"
#include "host/core/shape_choice.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// What a policy that chooses shapes may choose in a state, made anew: for whoever checks a decision, or hands its question to others.
ShapeChoice look_at_choice(const StateImpl& state, const ChosenPolicy& chosen);

}  // namespace berth::core
