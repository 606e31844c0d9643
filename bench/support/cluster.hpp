#pragma once

#include <cstdint>

#include "berth/snapshot.hpp"

namespace berth::bench {

/// A cluster in use: nodes of eight GPUs of two types, racks of 16 nodes, pods of 8 racks, labels, demands of cores and
/// memory, four queues with quotas; jobs as in the Helios trace, half of them waiting.
Snapshot busy_cluster(std::int64_t nodes, std::int64_t jobs);

/// The same without waiting jobs, and with one GPU type, so that gangs of any size find room.
Snapshot running_cluster(std::int64_t nodes, std::int64_t jobs);

}  // namespace berth::bench
