#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/job.hpp"
#include "berth/plan.hpp"

/// Members of a gang that work where it is placed. Spares are its last members and stay idle until they are needed.
namespace berth::core {

struct NodeGpus {
  std::int32_t node;  // rank
  std::int32_t gpus;
};

struct NodeMembers {
  std::int32_t node;  // rank
  std::int32_t members;
};

/// @param nodes  out: the members of a group that work, in their order; a node more than once where they are not together there
void set_members_at_work(const Shape& shape, std::span<const PlanEntry> entries, std::int32_t group, std::vector<NodeMembers>& nodes);

/// @param nodes  out: each node with members at work, ascending, and their GPUs there
void set_nodes_at_work(const Shape& shape, std::span<const PlanEntry> entries, std::vector<NodeGpus>& nodes);

/// Counted as in Shape::gpus.
std::int32_t gpus_at_work(const Shape& shape, std::span<const PlanEntry> entries);

}  // namespace berth::core
