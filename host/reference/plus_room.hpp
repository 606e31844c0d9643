#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/plus.hpp"

namespace berth::reference {

/// Section 3 of docs/ones-plus.md, step 4: the room for a row around a node, its nodes in the order in which they are visited. Empty where
/// there is none.
std::vector<std::int32_t> plus_room(const kernel::PlusView& view, std::int32_t row, std::int32_t anchor);

}  // namespace berth::reference
