#pragma once

#include <array>
#include <cstdint>

#include "host/reference/plan_search/plan.hpp"

namespace berth::reference {

/// The numbers of one step.
struct PlanSearchNumbers {
  std::array<std::uint32_t, 4> a, b, c;
};

/// Section 3 of docs/ones-plus.md. operators: set of kernel::PlanSearchOperator.
void take_step(const kernel::PlanSearchView& view, std::uint32_t operators, const PlanSearchNumbers& numbers, bool forced,
               SearchedPlan& plan);

}  // namespace berth::reference
