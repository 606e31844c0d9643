#include "host/core/contention/affinity_graph.hpp"

#include "berth/kernel/base/to_index.hpp"

namespace berth::core {
namespace {

std::int64_t modulo(std::int64_t value, std::int64_t period) {
  const std::int64_t rest = value % period;
  return rest < 0 ? rest + period : rest;
}

}  // namespace

AffinityShifts affinity_shifts(std::span<const std::int64_t> period_ns, std::int32_t links, std::span<const AffinityEdge> edges) {
  std::vector<std::vector<std::size_t>> of_gang(period_ns.size()), of_link(to_index(links));
  for (std::size_t e = 0; e < edges.size(); ++e) {
    of_gang[to_index(edges[e].gang)].push_back(e);
    of_link[to_index(edges[e].link)].push_back(e);
  }
  AffinityShifts out;
  out.component.assign(period_ns.size(), -1);
  out.shift_ns.assign(period_ns.size(), 0);
  std::vector<std::uint8_t> link_seen(to_index(links), 0);
  for (std::size_t root = 0; root < period_ns.size(); ++root) {
    if (out.component[root] >= 0) continue;
    const auto component = static_cast<std::int32_t>(out.has_loop.size());
    // A tree has one edge less than it has gangs and links.
    std::size_t n_edges = 0, n_links = 0;
    std::vector<std::size_t> gangs{root};
    out.component[root] = component;
    for (std::size_t i = 0; i < gangs.size(); ++i) {
      for (const std::size_t e : of_gang[gangs[i]]) {
        ++n_edges;
        if (link_seen[to_index(edges[e].link)] != 0) continue;
        link_seen[to_index(edges[e].link)] = 1;
        ++n_links;
        for (const std::size_t other : of_link[to_index(edges[e].link)]) {
          const std::size_t gang = to_index(edges[other].gang);
          if (out.component[gang] >= 0) continue;
          out.component[gang] = component;
          out.shift_ns[gang] = modulo(out.shift_ns[gangs[i]] - edges[e].shift_ns + edges[other].shift_ns, period_ns[gang]);
          gangs.push_back(gang);
        }
      }
    }
    out.has_loop.push_back(n_edges + 1 > gangs.size() + n_links ? 1 : 0);
    if (out.has_loop.back() != 0)
      for (const std::size_t gang : gangs) out.shift_ns[gang] = 0;
  }
  return out;
}

}  // namespace berth::core
