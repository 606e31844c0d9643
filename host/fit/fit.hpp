#pragma once

#include <span>

#include "host/fit/likelihood.hpp"
#include "host/policy/progress_model.hpp"

namespace berth::fit {

/// The weights under which `seen`, at least one, is most likely, rounded to millionths. The same every time: fixed starts, a fixed number
/// of evaluations. A feature that does not vary has the weight 0.
policy::ProgressModel fit_model(std::span<const Observation> seen);

/// The same of the constant alone.
policy::ProgressModel fit_constant(std::span<const Observation> seen);

}  // namespace berth::fit
