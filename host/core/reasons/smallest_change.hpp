#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "host/core/model/capacity.hpp"

namespace berth::core {

/// What would have to become free for a gang to start.
struct Change {
  std::int64_t missing = 0;          ///< GPUs (or shares), whole members; 0: none is known
  std::int32_t where = -1;           ///< the node that needs it; -1: any nodes
  bool with_cpu_and_memory = false;  ///< cores and memory must become free with them, more than is free everywhere
};

/// The nodes that count: those that pass one filter, in the whole cluster or in one domain.
struct ChangeInput {
  const kernel::ProblemView* problem = nullptr;
  const Capacity* free = nullptr;                    // what is free
  const std::vector<Capacity::Row>* rows = nullptr;  // nodes with free supply that pass the filter
  const Capacity* total = nullptr;                   // total of open nodes
  std::int32_t filter = 0;
  std::int64_t end = 0;                               // when the job would end, kNever: not known
  std::int32_t topology = 0, level = -1, where = -1;  // level -1: the whole cluster
};

/// Maximum members on one node: the limit of a gang spread over nodes, else no limit.
std::int64_t most_on_node(const kernel::GroupRow& group);

/// The smallest change after which the group has room for all its members, whichever GPUs become free. No segments, and
/// spread over nodes only. None is known where nodes lack more than GPUs, nor where it matters which GPU becomes free,
/// nor where the nodes could never hold the group.
/// @param may_name  The result may name the node nearest to holding the one missing member.
Change smallest_change(const ChangeInput& in, const kernel::GroupRow& group, bool may_name);

}  // namespace berth::core
