#pragma once

#include <vector>

#include "host/reference/plus_plan.hpp"

namespace berth::reference {

/// Section 2 of docs/ones-plus.md: all individuals, filled.
std::vector<PlusPlan> plus_beginnings(const kernel::PlusView& view, const kernel::PlusRequest& request);

}  // namespace berth::reference
