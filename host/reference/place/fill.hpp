#pragma once

#include <cstdint>
#include <vector>

#include "host/reference/place/capacity.hpp"

/// Sections 3 and 4 of docs/placement.md.
namespace berth::reference {

/// One group that is being placed: its rows in placement order.
struct Placing {
  std::int32_t group;  // relative to the first row of the demand
  const kernel::GroupRow* row;
  std::vector<kernel::PlacedRow>* entries;  // appended to
  std::int32_t placed;                      // members placed so far
};

/// The GPUs of a node that `members` members with whole GPUs receive.
std::uint64_t choose_gpus(const kernel::ProblemView& p, const State& s, std::int32_t node, std::int32_t gpus);
/// The GPU that a share uses; the node holds at least one more member.
std::int32_t choose_shared_gpu(const Trial& ask, const State& s, const kernel::GroupRow& group, std::int32_t node);
/// Allocates `members` members on one node that holds them.
void take_node(const Trial& ask, State& s, Placing& placing, std::int32_t node, std::int64_t members);
/// Section 3. Returns false when members are left. State and entries are then half changed, and the caller restores copies.
bool fill(const Trial& ask, State& s, Placing& placing, const NodeList& set, std::int32_t topology, std::int32_t level,
          std::int64_t members);

}  // namespace berth::reference
