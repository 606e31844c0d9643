#pragma once

#include "host/reference/plan_search/plan.hpp"

namespace berth::reference {

/// Section 4 of docs/ones-plus.md: takes over the parts of the parent's plan with a higher value.
/// @returns false where no job differs.
bool take_from_parent(const kernel::PlanSearchView& view, const SearchedPlan& parent, SearchedPlan& plan);

}  // namespace berth::reference
