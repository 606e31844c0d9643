#pragma once

#include <vector>

#include "host/reference/plan_search/plan.hpp"

namespace berth::reference {

/// Section 2 of docs/ones-plus.md: all individuals, filled.
std::vector<SearchedPlan> plan_search_beginnings(const kernel::PlanSearchView& view, const kernel::PlanSearchRequest& request);

}  // namespace berth::reference
