#include "host/sim/replay/job_nodes.hpp"

#include <bit>
#include <set>
#include <string_view>

namespace berth::sim {

std::string job_nodes(const Job& job) {
  std::string nodes;
  std::set<std::string_view> named;  // groups may share nodes
  for (const AllocationEntry& entry : job.allocation.entries) {
    if (!named.insert(entry.node).second) continue;
    if (named.size() > 1) nodes += ' ';
    nodes += entry.node;
  }
  return nodes;
}

void set_free_levels(const StateView& state, const Fragmentation& fragmentation, Levels& levels) {
  for (std::size_t n = 0; n < state.nodes().size(); ++n) {
    const std::int32_t free = std::popcount(state.node().free[n]);
    levels.gpus_free += free;
    levels.fragmented_micro += fragmentation.of(state.nodes()[n].gpus, free);
  }
}

}  // namespace berth::sim
