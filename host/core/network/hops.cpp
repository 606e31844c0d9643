#include "host/core/network/hops.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/all_reduce.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

std::int64_t hop_ns(const StateImpl& state, std::span<const NodeMembers> nodes) {
  constexpr auto kSwitchTopology = static_cast<std::int32_t>(TopologyKind::kSwitch);
  if (nodes.size() < 2) return 0;
  const Topologies& topologies = state.topologies;
  const std::int32_t nvlink = topologies.nvlink_domain(nodes.front().node);
  const auto inside = [&](const NodeMembers& here) { return topologies.nvlink_domain(here.node) == nvlink; };
  if (nvlink >= 0 && std::all_of(nodes.begin(), nodes.end(), inside)) {
    const std::int32_t type = state.node.type[to_index(nodes.front().node)];
    return inside_hop_ns(type < 0 ? 0 : state.gpu_types[to_index(type)].nvlink_bytes_per_s);
  }
  // Nodes are in order of domain path, so a domain's nodes stand together.
  std::int32_t level = 1;
  std::int64_t stated_ns = 0;
  for (; level + 1 < topologies.levels(kSwitchTopology); ++level) {
    if (topologies.domain_of(kSwitchTopology, level, nodes.front().node) == topologies.domain_of(kSwitchTopology, level, nodes.back().node))
      break;
    std::int32_t seen = -1;
    TimeUs latency_us = 0;
    for (const NodeMembers& here : nodes) {
      const std::int32_t domain = topologies.domain_of(kSwitchTopology, level, here.node);
      if (domain == seen) continue;
      seen = domain;
      if (const Domain* description = topologies.description(domain)) latency_us = std::max(latency_us, description->latency_us);
    }
    stated_ns = saturating_add(stated_ns, saturating_mul(latency_us, 1000));
  }
  return network_hop_ns(level, stated_ns);
}

std::int64_t hop_count(CommAlgorithm algorithm, std::int64_t n) {
  if (n < 2) return 0;
  switch (algorithm) {
    case CommAlgorithm::kRing:
      return 2 * (n - 1);
    case CommAlgorithm::kSharded:
      return 3 * (n - 1);
    case CommAlgorithm::kTree:
      return 2 * static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
    case CommAlgorithm::kInNetwork:
      return 2;
  }
  return 0;
}

}  // namespace berth::core
