#pragma once

#include "host/reference/plan_search/plan.hpp"

namespace berth::reference {

/// Section 4 of docs/ones-plus.md: takes over the parts of the mate's plan with a higher value.
/// @returns false where no job differs.
bool take_from_mate(const kernel::PlanSearchView& view, const SearchedPlan& mate, SearchedPlan& plan);

}  // namespace berth::reference
