#include "host/core/model/members_at_work.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"

namespace berth::core {
namespace {

// Placed members of a group beyond the requested number work only where they exceed its spares.
std::int32_t members_at_work(const Shape& shape, std::span<const PlanEntry> entries, std::int32_t group) {
  std::int32_t members = 0;
  for (const PlanEntry& entry : entries) members += entry.group == group ? entry.members : 0;
  const Group& description = shape.groups[to_index(group)];
  return std::min(members, std::max(description.members_want, members - description.spares));
}

bool has_spares(const Shape& shape) {
  return std::any_of(shape.groups.begin(), shape.groups.end(), [](const Group& group) { return group.spares > 0; });
}

}  // namespace

void set_members_at_work(const Shape& shape, std::span<const PlanEntry> entries, std::int32_t group, std::vector<NodeMembers>& nodes) {
  nodes.clear();
  std::int32_t left = members_at_work(shape, entries, group);
  for (const PlanEntry& entry : entries) {  // in rank order, so that spares come last
    if (entry.group != group || left == 0) continue;
    nodes.push_back({entry.node, std::min(left, entry.members)});
    left -= nodes.back().members;
  }
}

void set_nodes_at_work(const Shape& shape, std::span<const PlanEntry> entries, std::vector<NodeGpus>& nodes) {
  nodes.clear();
  if (!has_spares(shape)) {
    for (const PlanEntry& entry : entries) nodes.push_back({entry.node, std::popcount(entry.gpus)});
  } else {
    for (std::int32_t g = 0; g < static_cast<std::int32_t>(shape.groups.size()); ++g) {
      std::int32_t left = members_at_work(shape, entries, g);
      for (const PlanEntry& entry : entries) {  // in rank order, so that spares come last
        if (entry.group != g || left == 0) continue;
        const std::int32_t members = std::min(left, entry.members);
        nodes.push_back(
            {entry.node, members == entry.members ? std::popcount(entry.gpus) : members * shape.groups[to_index(g)].gpus_per_member});
        left -= members;
      }
    }
  }
  const auto by_node = [](const NodeGpus& a, const NodeGpus& b) { return a.node < b.node; };
  if (!std::is_sorted(nodes.begin(), nodes.end(), by_node)) std::sort(nodes.begin(), nodes.end(), by_node);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (kept > 0 && nodes[kept - 1].node == nodes[i].node) {
      nodes[kept - 1].gpus += nodes[i].gpus;
    } else {
      nodes[kept++] = nodes[i];
    }
  }
  nodes.resize(kept);
}

std::int32_t gpus_at_work(const Shape& shape, std::span<const PlanEntry> entries) {
  if (shape.groups.empty()) return shape.gpus;
  std::int32_t gpus = 0;
  for (const PlanEntry& entry : entries) gpus += entry.members * shape.groups[to_index(entry.group)].gpus_per_member;
  for (std::int32_t g = 0; g < static_cast<std::int32_t>(shape.groups.size()); ++g) {
    if (shape.groups[to_index(g)].spares == 0) continue;
    std::int32_t members = 0;
    for (const PlanEntry& entry : entries) members += entry.group == g ? entry.members : 0;
    gpus -= (members - members_at_work(shape, entries, g)) * shape.groups[to_index(g)].gpus_per_member;
  }
  return gpus;
}

}  // namespace berth::core
