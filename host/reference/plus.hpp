#pragma once

#include <cstdint>
#include <functional>

#include "berth/kernel/plus.hpp"

namespace berth::reference {

/// docs/ones-plus.md, step by step. `stop` is asked before each generation with how many were made; empty: never.
void evolve_plans(const kernel::PlusView& view, const kernel::PlusRequest& request, const kernel::PlusResult& result,
                  const std::function<bool(std::int32_t made)>& stop = {});

}  // namespace berth::reference
