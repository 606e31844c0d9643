#pragma once

#include <cstdint>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/cluster_facts.hpp"

namespace berth::core {

/// True when the job indeed can never run on this cluster as it is described, whoever leaves it, and the reason says why.
///
/// Every alternative (shape x GPU type) must fail a necessary condition on *all* GPUs, cores and bytes that exist, failed, spare
/// and drained nodes included; the reason's code, `asked` and `best` must be those of one of these conditions. Reads
/// descriptions only. O(shapes x types x nodes); allocates.
bool certificate_holds(const ClusterFacts& facts, const Job& job, const Reason& reason);

/// certificate_holds, remembered by slot: it rests on descriptions alone, so while they stay the answer does.
class CertificateMemory {
 public:
  bool holds(const ClusterFacts& facts, std::int32_t slot, const Reason& reason);

 private:
  struct Known {
    std::uint64_t cluster = 0, job = 0;  // versions of the facts
    Reason reason;
    bool holds = false;
  };
  std::vector<Known> known_;  // [slots]
};

}  // namespace berth::core
