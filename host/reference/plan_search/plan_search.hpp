#pragma once

#include <cstdint>
#include <functional>

#include "berth/kernel/plan_search/columns.hpp"

namespace berth::reference {

/// Runs docs/ones-plus.md step by step. `stop` is called before each generation with the number done; empty: never.
void plan_search(const kernel::PlanSearchView& view, const kernel::PlanSearchRequest& request, const kernel::PlanSearchResult& result,
                 const std::function<bool(std::int32_t made)>& stop = {});

}  // namespace berth::reference
