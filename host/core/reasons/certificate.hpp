#pragma once

#include <cstdint>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/model/cluster_facts.hpp"

namespace berth::core {

/// True when the job can never run on this cluster as described, whichever jobs leave, and the reason states why.
///
/// Every alternative (shape x GPU type) must fail a necessary condition on *all* existing GPUs, cores and bytes,
/// including failed, spare and drained nodes. The reason's code, `asked` and `best` must be those of one of these
/// conditions. Reads descriptions only. O(shapes x types x nodes); allocates.
bool certificate_holds(const ClusterFacts& facts, const Job& job, const Reason& reason);

/// certificate_holds, cached by job index. It depends on descriptions alone, so the result is valid while they stay the
/// same.
class CertificateMemory {
 public:
  bool holds(const ClusterFacts& facts, std::int32_t job_index, const Reason& reason);

 private:
  struct Known {
    std::uint64_t cluster = 0, job = 0;  // versions of the facts
    Reason reason;
    bool holds = false;
  };
  std::vector<Known> known_;  // [jobs of the state]
};

}  // namespace berth::core
