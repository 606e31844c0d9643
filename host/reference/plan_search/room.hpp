#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/plan_search/columns.hpp"

namespace berth::reference {

/// Section 3 of docs/ones-plus.md, step 4: the room for an option around a node.
/// @returns the nodes in the order in which they are visited; empty where there is no room.
std::vector<std::int32_t> plan_search_room(const kernel::PlanSearchView& view, std::int32_t option, std::int32_t anchor);

}  // namespace berth::reference
