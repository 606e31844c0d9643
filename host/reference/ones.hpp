#pragma once

#include <functional>

#include "berth/kernel/ones.hpp"

namespace berth::reference {

/// docs/ones.md, step by step. `stop` is asked after each generation, the last one, too; empty: never.
void evolve_ones(const kernel::OnesView& view, const kernel::OnesRequest& request, const kernel::OnesResult& result,
                 const std::function<bool()>& stop = {});

}  // namespace berth::reference
