#pragma once

#include <functional>

#include "berth/kernel/ones/columns.hpp"

namespace berth::reference {

/// Runs docs/ones.md step by step. `stop` is called after each generation, including the last; empty: never.
void ones(const kernel::OnesView& view, const kernel::OnesRequest& request, const kernel::OnesResult& result,
          const std::function<bool()>& stop = {});

}  // namespace berth::reference
