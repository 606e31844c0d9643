#pragma once

#include <string_view>

#include "berth/overheads.hpp"

namespace berth::sim {

/// The costs of resuming and moving jobs in a simulation, by name.
///
/// - `none`: none.
/// - `default`: 30 s for each resumption, migration and resize, the cost of a restart in the simulations of Pollux (OSDI'21).
/// @throws InvalidArgument for any other name.
Overheads named_overheads(std::string_view name);

/// Whether some job pauses to save checkpoints while it runs.
bool saves_while_running(const Overheads& overheads);

}  // namespace berth::sim
