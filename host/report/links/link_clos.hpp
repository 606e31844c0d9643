#pragma once

#include <cstdint>
#include <vector>

#include "host/core/model/members_at_work.hpp"
#include "host/report/links/link_report.hpp"

namespace berth::report {

/// A job with GPUs, and the nodes on which its members work.
struct PlacedGang {
  std::int32_t job;
  std::vector<core::NodeGpus> nodes;
};

/// Fills `reserved` and `spine_fabrics`: leaves are the lowest domains, below one that states its spines. A leaf has as many links up as
/// GPUs, less its oversubscription, spread evenly over the spines: our reconstruction. Placed gangs reserve in the order given, and then
/// waiting jobs that are too large for every node.
void add_clos(const ClusterState& state, const std::vector<PlacedGang>& placed, LinkReport& report);

}  // namespace berth::report
