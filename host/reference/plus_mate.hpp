#pragma once

#include "host/reference/plus_plan.hpp"

namespace berth::reference {

/// Section 4 of docs/ones-plus.md: takes over the parts of the mate's plan that are worth more. False where no job differs.
bool take_from_mate(const kernel::PlusView& view, const PlusPlan& mate, PlusPlan& plan);

}  // namespace berth::reference
