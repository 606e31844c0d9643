#pragma once

#include <cstdint>

#include "berth/plan.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// What a plan of any policy is worth by the objective of another plan, which has a bound: the sum that the bound is one of.
/// @throws InvalidArgument for parameters of the other plan that its policy does not have.
std::int64_t worth_by(const StateImpl& state, const Plan& plan, const Plan& by);

}  // namespace berth::core
