#pragma once

#include <span>

#include "host/fit/likelihood.hpp"
#include "host/policy/base/progress_model.hpp"

namespace berth::fit {

/// The weights of maximum likelihood for `seen` (at least one), rounded to millionths. Deterministic: fixed starts, a
/// fixed number of evaluations. A feature that does not vary has the weight 0.
policy::ProgressModel fit_model(std::span<const Observation> seen);

/// The same for the constant alone.
policy::ProgressModel fit_constant(std::span<const Observation> seen);

}  // namespace berth::fit
