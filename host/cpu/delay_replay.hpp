#pragma once

#include <span>

#include "host/backend/backend.hpp"

namespace berth::cpu {

/// Runs replays with delay timers (docs/dally.md), each on one thread. The number of threads does not change the answers.
void delay_replay(const kernel::DelayReplayView& problem, std::span<const core::DelayReplayTask> tasks,
                  std::span<const kernel::DelayReplayResult> results, int threads);

}  // namespace berth::cpu
