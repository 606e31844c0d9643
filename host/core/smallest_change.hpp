#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/problem.hpp"
#include "host/core/capacity.hpp"

namespace berth::core {

/// What would have to become free for a gang to start.
struct Change {
  std::int64_t missing = 0;  ///< GPUs (or shares), whole members; 0: none is known
  std::int32_t where = -1;   ///< the node on which; -1: on whichever nodes
  bool beside = false;       ///< there must be cores and memory with them, more than is free everywhere
};

/// The nodes that count: those of one filter, in the whole cluster or in one domain.
struct ChangeInput {
  const kernel::ProblemView* problem = nullptr;
  const Capacity* free = nullptr;                    // what is free
  const std::vector<Capacity::Row>* rows = nullptr;  // nodes that have something free and that the filter lets through
  const Capacity* total = nullptr;                   // what open nodes have in all
  std::int32_t filter = 0;
  std::int64_t end = 0;                            // when the job would end, kNever: not known
  std::int32_t facet = 0, level = -1, where = -1;  // level -1: the whole cluster
};

/// Members that one node may hold however many fit: of a gang spread over nodes, else no limit.
std::int64_t most_on_node(const kernel::GroupRow& group);

/// The smallest change after which the group has room for all its members, whichever GPUs it is that become free; no segments, and no
/// spread but over nodes. None is known where nodes lack something else than GPUs now, where it matters which of them becomes free, and
/// where the nodes could never hold the group.
/// @param may_name  One member may be said to lack on the node that is nearest to holding it.
Change smallest_change(const ChangeInput& in, const kernel::GroupRow& group, bool may_name);

}  // namespace berth::core
