#pragma once

#include "berth/plan.hpp"
#include "host/core/cluster_facts.hpp"

namespace berth::core {

/// True when the job indeed can never run on this cluster as it is described, whoever leaves it, and the reason says why.
///
/// Every alternative (shape x GPU type) must fail a necessary condition on *all* GPUs, cores and bytes that exist, failed, spare
/// and drained nodes included; the reason's code, `asked` and `best` must be those of one of these conditions. Reads
/// descriptions only. O(shapes x types x nodes); allocates.
bool certificate_holds(const ClusterFacts& facts, const Job& job, const Reason& reason);

}  // namespace berth::core
