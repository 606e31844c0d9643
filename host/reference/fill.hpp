#pragma once

#include <cstdint>
#include <vector>

#include "host/reference/capacity.hpp"

/// Sections 3 and 4 of docs/placement.md.
namespace berth::reference {

/// One group that is being placed: which rows it gets, in placement order.
struct Placing {
  std::int32_t group;  // relative to the demand's first row
  const kernel::GroupRow* row;
  std::vector<kernel::PlacedRow>* entries;  // appended to
  std::int32_t placed;                      // members so far
};

/// The GPUs that a node gives to `members` members, whole GPUs.
std::uint64_t choose_gpus(const kernel::ProblemView& p, const State& s, std::int32_t node, std::int32_t gpus);
/// The GPU that a share goes to; the node holds at least one more member.
std::int32_t choose_shared_gpu(const Ask& ask, const State& s, const kernel::GroupRow& group, std::int32_t node);
/// Takes `members` members on one node that holds them.
void take_node(const Ask& ask, State& s, Placing& placing, std::int32_t node, std::int64_t members);
/// Section 3. False, with state and entries half changed, when members are left: the caller puts copies back.
bool fill(const Ask& ask, State& s, Placing& placing, const NodeSet& set, std::int32_t facet, std::int32_t level, std::int64_t members);

}  // namespace berth::reference
