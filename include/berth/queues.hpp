#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "berth/export.hpp"
#include "berth/plan.hpp"
#include "berth/state.hpp"
#include "berth/units.hpp"

/// How queues stand to their quotas.
namespace berth {

/// What a queue, with those below it, is entitled to, has and asks for: docs/quotas.md. GPUs in millionths.
struct QueueStanding {
  std::int32_t queue = -1;        ///< row: parents before their children, then by id
  std::int32_t gpu_type = -1;     ///< index of a GPU type; -1: all types together
  std::int64_t guarantee = 0;     ///< its own, or the sum of its children's or its types' if that is more: docs/formats/queues.md
  std::int64_t limit = -1;        ///< the lower of limit, and guarantee and borrowing; -1: none
  std::int64_t entitled = 0;      ///< of the guarantees, as far as jobs ask for them; of all types: of those, else the sum of the types
  std::int64_t fair_share = 0;    ///< of all GPUs that work
  std::int64_t has = 0;           ///< what its jobs hold
  std::int64_t waiting = 0;       ///< what its waiting jobs ask for, in the first option; those that can never run do not
  TimeUs starved_since = kNever;  ///< since when a job of it waits that it is entitled to; kNever: none does
  std::int64_t keeps = 0;         ///< of the guarantee: others below its parent do not get it, used or not
  /// Over all types: the largest of the parts of GPUs, cores and memory that its jobs hold, and the fair one, in millionths of the
  /// cluster. -1: in rows of one type, and where neither all nodes that work state their cores, nor all their memory
  std::int64_t dominant_share = -1, fair_dominant_share = -1;
  bool operator==(const QueueStanding&) const = default;
};

/// For each queue the row of all types, then those of types of which it states something; parents before children.
/// @param plan  Of the state's revision. Null: as jobs run now; else as they would after it.
/// O((jobs + queues) * types), and a sort of the children of each queue.
BERTH_API std::vector<QueueStanding> queue_standings(const ClusterState& state, const Plan* plan = nullptr);

/// Row of a queue, as in a standing and in Reason::queue; -1: there is none.
BERTH_API std::int32_t find_queue(const ClusterState& state, std::string_view id);

}  // namespace berth
