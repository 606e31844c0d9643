#pragma once

#include "host/sim/simulation.hpp"

namespace berth::sim {

/// Jobs that take turns must get somewhere in them: a simulation of others would never end.
/// @throws InvalidArgument where the turns of the policy are not longer than a resumption or a migration costs some model.
void check_turns(const SimulationSettings& settings);

}  // namespace berth::sim
