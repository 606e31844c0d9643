#pragma once

#include <span>

#include "host/backend/backend.hpp"

namespace berth::cpu {

/// Runs replays (docs/replays.md), each on one thread. The number of threads does not change the answers.
void replay(const kernel::ReplayView& problem, std::span<const core::ReplayTask> tasks, std::span<const kernel::ReplayResult> results,
            int threads);

}  // namespace berth::cpu
