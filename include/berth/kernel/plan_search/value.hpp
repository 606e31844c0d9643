#pragma once

#include <cstdint>

#include "berth/kernel/plan_search/columns.hpp"

/// What a job at a place adds to the score of an individual: docs/ones-plus.md section 1.
namespace berth::kernel {

/// Locality class of a gang: 0 on one node; 1 in one NVLink domain; 2, 3, ... in one domain of level 1, 2, ... of the switch topology.
BERTH_HD inline std::int32_t plan_search_class(const ProblemView& p, const PlacedRow* first, const PlacedRow* last) {
  constexpr std::int32_t kNvlink = 1;
  std::int32_t level = 0;
  bool nvlink = p.topology[kNvlink].levels > 2;
  const TopologyView& links = p.topology[kNvlink];
  const TopologyView& switches = p.topology[0];
  for (const PlacedRow* e = first + 1; e < last; ++e) {
    const auto apart = [&] {
      if (level == 0) return e->node != first->node;
      const std::int32_t* domain = switches.node_domain + std::int64_t{level} * p.n_nodes;
      return domain[e->node] != domain[first->node];
    };
    while (level < switches.levels - 1 && apart()) ++level;
    const std::int32_t* domain = links.node_domain + p.n_nodes;
    nvlink = nvlink && domain[e->node] == domain[first->node] && p.domains.named[domain[e->node]] != 0;
  }
  return level == 0 ? 0 : nvlink ? 1 : level + 1;
}

/// The value of option k of a job at these entries. @param at_home  the place where it runs now
BERTH_HD inline std::int64_t plan_search_value(const PlanSearchView& v, const ProblemView& p, std::int32_t job, std::int32_t k,
                                               const PlacedRow* first, const PlacedRow* last, bool at_home) {
  const std::int32_t c = v.n_classes == 1 ? 0 : plan_search_class(p, first, last);
  const bool moved = k == v.current[job] && !at_home;
  return moved ? v.moved_value[std::int64_t{job} * v.n_classes + c] : v.placed_value[std::int64_t{k} * v.n_classes + c];
}

}  // namespace berth::kernel
