#pragma once

#include <array>
#include <cstdint>

#include "host/reference/plus_plan.hpp"

namespace berth::reference {

/// The numbers of one step.
struct PlusNumbers {
  std::array<std::uint32_t, 4> a, b, c;
};

/// Section 3 of docs/ones-plus.md. operators: set of kernel::PlusOperator.
void take_step(const kernel::PlusView& view, std::uint32_t operators, const PlusNumbers& numbers, bool forced, PlusPlan& plan);

}  // namespace berth::reference
