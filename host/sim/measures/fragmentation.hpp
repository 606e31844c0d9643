#pragma once

#include <array>
#include <cstdint>

#include "host/sim/base/job_source.hpp"

namespace berth::sim {

/// Free GPUs on nodes that have no room for a job, averaged over the jobs of the trace.
/// A job larger than the node uses whole nodes, so that a completely free node is never fragmented.
///
/// The measure is that of Weng et al., "Beware of Fragmentation" (ATC'23), for whole GPUs and the trace as the workload.
/// Gangs over several nodes are our reconstruction.
class Fragmentation {
 public:
  explicit Fragmentation(const TraceFacts& facts);

  /// Fragmentation of one node, in millionths of a GPU, rounded down.
  /// @param gpus, free  0 <= free <= gpus <= kMaxGpusPerNode.
  std::int64_t of(std::int32_t gpus, std::int32_t free) const {
    return free == gpus ? 0 : free * above_micro_[static_cast<std::size_t>(free)];
  }

 private:
  std::array<std::int64_t, kMaxGpusPerNode> above_micro_{};  ///< fraction of the jobs that request more GPUs
};

}  // namespace berth::sim
