#pragma once

#include <array>
#include <cstdint>

#include "host/sim/job_source.hpp"

namespace berth::sim {

/// Free GPUs that are of no use where they are: in the mean over the jobs of the trace, the free GPUs of a node on which the job finds no
/// room. A job larger than the node takes whole nodes, so that a node all of whose GPUs are free is never fragmented.
///
/// The measure is that of Weng et al., "Beware of Fragmentation" (ATC'23), for whole GPUs and the trace as the workload; gangs over several
/// nodes are our reconstruction.
class Fragmentation {
 public:
  explicit Fragmentation(const TraceFacts& facts);

  /// Of one node, in millionths of a GPU, rounded down. @param gpus, free  0 <= free <= gpus <= kMaxGpusPerNode.
  std::int64_t of(std::int32_t gpus, std::int32_t free) const {
    return free == gpus ? 0 : free * above_micro_[static_cast<std::size_t>(free)];
  }

 private:
  std::array<std::int64_t, kMaxGpusPerNode> above_micro_{};  ///< part of the jobs that ask for more GPUs
};

}  // namespace berth::sim
