#pragma once

#include <cstdint>
#include <vector>

#include "host/reference/base/state.hpp"

/// Section 1 of docs/placement.md.
namespace berth::reference {

/// Ranks in ascending order.
using NodeList = std::vector<std::int32_t>;

/// Constants while one option of one job is tried at one instant.
struct Trial {
  const kernel::ProblemView* problem;
  const kernel::DemandRow* demand;
  TimeUs run;  // kNever: not known
  TimeUs start;
};

struct Size {
  std::int64_t cap, raw;
};

NodeList all_nodes(const kernel::ProblemView& p);
/// Domain of the node at a level; the node itself at level 0.
std::int32_t domain_of(const kernel::ProblemView& p, std::int32_t topology, std::int32_t level, std::int32_t node);

/// Whether the filter and `node_until` allow the option to use the node.
bool usable(const Trial& ask, std::int32_t node);
/// Members of the group that fit on the node, and its free GPUs (for shares: the members again).
Size size_of(const Trial& ask, const State& s, const kernel::GroupRow& group, std::int32_t node);
/// The sums over a set, without segment and spread.
Size plain_size(const Trial& ask, const State& s, const kernel::GroupRow& group, const NodeList& set);
/// The sums over a set, with segment and spread.
Size full_size(const Trial& ask, const State& s, const kernel::GroupRow& group, const NodeList& set);
/// Whole free GPUs of the usable nodes of a set.
std::int64_t free_gpus(const Trial& ask, const State& s, const NodeList& set);
/// Members that still fit on one GPU, for a group of shares.
std::int64_t share_room(const Trial& ask, const State& s, const kernel::GroupRow& group, std::int32_t node, std::int32_t gpu);

}  // namespace berth::reference
