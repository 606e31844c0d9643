#pragma once

#include <string_view>

#include "berth/overheads.hpp"

namespace berth::sim {

/// What starting again and moving cost a job in a simulation, by name.
///
/// - `none`: nothing.
/// - `default`: 30 s for each resumption, migration and resize: what Pollux (OSDI'21) charges for a restart in its simulations.
/// @throws InvalidArgument for another name.
Overheads named_overheads(std::string_view name);

}  // namespace berth::sim
