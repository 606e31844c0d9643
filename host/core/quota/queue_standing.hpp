#pragma once

#include <cstdint>
#include <vector>

#include "berth/plan.hpp"
#include "berth/units.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// What a queue, with those below it, is entitled to, has and asks for: docs/quotas.md. GPUs in millionths.
struct QueueStanding {
  std::int32_t queue = -1;
  std::int32_t gpu_type = -1;     ///< -1: all types together
  std::int64_t guarantee = 0;     ///< its own, or the sum of its children's if that is more
  std::int64_t limit = -1;        ///< the lower of limit, and guarantee and borrowing; -1: none
  std::int64_t entitled = 0;      ///< of the guarantees, as far as jobs ask for them; of all types at least the sum of the types
  std::int64_t fair_share = 0;    ///< of all GPUs that work
  std::int64_t has = 0;           ///< what its jobs hold
  std::int64_t waiting = 0;       ///< what its waiting jobs ask for, in the first option
  TimeUs starved_since = kNever;  ///< since when a job of it waits that it is entitled to; kNever: none does
};

/// For each queue the row of all types, then those of types of which it states something; parents before children.
/// @param plan  null: as jobs run now; else as they would after it
/// O((jobs + queues) * types), and a sort of the children of each queue.
std::vector<QueueStanding> queue_standings(const StateView& state, const Plan* plan);

}  // namespace berth::core
