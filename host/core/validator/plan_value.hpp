#pragma once

#include <cstdint>

#include "berth/plan.hpp"
#include "host/core/state/state_view.hpp"

namespace berth {}

namespace berth::core {

/// The objective value of any plan, by the objective of another plan that has a bound for the same sum.
/// @throws InvalidArgument for parameters of the other plan that its policy does not have.
std::int64_t objective_value_by(const StateView& view, const Plan& plan, const Plan& by);

}  // namespace berth::core
