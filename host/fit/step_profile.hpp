#pragma once

#include <span>

#include "berth/profile.hpp"
#include "host/fit/step_model.hpp"

namespace berth::fit {

/// The table of rates that models of one job predict, by GPU type, GPUs, batch and span: of what was measured, and of the powers of two
/// between. Points of one node have the span "node"; those of several have none. Co-runners are in `colocation`.
Profile profile_of(std::span<const StepModel> models);

}  // namespace berth::fit
