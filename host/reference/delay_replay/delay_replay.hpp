#pragma once

#include <functional>

#include "berth/kernel/delay_replay/columns.hpp"

namespace berth::reference {

/// Replays a trace under `dally-manual` as docs/dally.md and docs/placement.md say, step by step: each decision orders all jobs and
/// looks at each of them. `stop` is called before each instant; empty: never.
void delay_replay(const kernel::DelayReplayView& problem, const kernel::DelayReplayRequest& request,
                  const kernel::DelayReplayResult& result, const std::function<bool()>& stop = {});

}  // namespace berth::reference
