#include "host/reference/plus_room.hpp"

#include <algorithm>

#include "berth/cluster.hpp"
#include "host/reference/capacity.hpp"

namespace berth::reference {

std::vector<std::int32_t> plus_room(const kernel::PlusView& view, std::int32_t row, std::int32_t anchor) {
  const kernel::ProblemView& p = view.problem;
  const kernel::DemandRow& demand = p.demands[view.demand[row]];
  const kernel::GroupRow& first = p.groups[demand.group_begin];
  const bool required = first.require_level != kernel::kNone;
  const std::int32_t facet = required && first.require_level > 0 ? first.require_facet : static_cast<std::int32_t>(Facet::kSwitch);
  const std::int32_t top = required ? first.require_level : p.facet[facet].levels - 1;

  if (view.node_room[anchor] >= demand.gpus) return {anchor};
  for (std::int32_t level = 1; level <= top; ++level) {
    const std::int32_t domain = domain_of(p, facet, level, anchor);
    if (view.room[domain] < demand.gpus) continue;
    std::vector<std::int32_t> nodes(p.facet[facet].order + p.domains.first[domain], p.facet[facet].order + p.domains.last[domain]);
    std::rotate(nodes.begin(), std::find(nodes.begin(), nodes.end(), anchor), nodes.end());
    return nodes;
  }
  return {};
}

}  // namespace berth::reference
