#pragma once

#include <functional>

#include "berth/kernel/replay/columns.hpp"

namespace berth::reference {

/// Replays a trace as docs/replays.md says, step by step. `stop` is called after each instant; empty: never.
void replay(const kernel::ReplayView& problem, const kernel::ReplayRequest& request, const kernel::ReplayResult& result,
            const std::function<bool()>& stop = {});

}  // namespace berth::reference
