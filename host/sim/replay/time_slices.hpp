#pragma once

#include "host/sim/base/outcome.hpp"
#include "host/sim/replay/settings.hpp"

namespace berth::sim {

/// Checks that time slices are long enough for progress; otherwise a simulation would never end.
/// @param longest_grace_us  of the jobs of the trace: what displaced jobs have to stop
/// @throws InvalidArgument where time slices are not longer than that and the cost of a resumption or migration of some model.
void check_time_slices(const SimulationSettings& settings, TimeUs longest_grace_us);

}  // namespace berth::sim
