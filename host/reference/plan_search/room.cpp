#include "host/reference/plan_search/room.hpp"

#include <algorithm>

#include "berth/cluster.hpp"
#include "host/reference/place/capacity.hpp"

namespace berth::reference {

std::vector<std::int32_t> plan_search_room(const kernel::PlanSearchView& view, std::int32_t option, std::int32_t anchor) {
  const kernel::ProblemView& p = view.problem;
  const kernel::DemandRow& demand = p.demands[view.demand[option]];
  const kernel::GroupRow& first = p.groups[demand.group_begin];
  const bool required = first.require_level != kernel::kNone;
  const std::int32_t topology =
      required && first.require_level > 0 ? first.require_topology : static_cast<std::int32_t>(TopologyKind::kSwitch);
  const std::int32_t top = required ? first.require_level : p.topology[topology].levels - 1;

  if (view.node_room[anchor] >= demand.gpus) return {anchor};
  for (std::int32_t level = 1; level <= top; ++level) {
    const std::int32_t domain = domain_of(p, topology, level, anchor);
    if (view.room[domain] < demand.gpus) continue;
    std::vector<std::int32_t> nodes(p.topology[topology].order + p.domains.first[domain],
                                    p.topology[topology].order + p.domains.last[domain]);
    std::rotate(nodes.begin(), std::find(nodes.begin(), nodes.end(), anchor), nodes.end());
    return nodes;
  }
  return {};
}

}  // namespace berth::reference
