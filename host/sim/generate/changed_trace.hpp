#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/snapshot.hpp"
#include "berth/trace.hpp"

/// Changes of recorded traces and of clusters, so that many simulations differ in them: docs/sweep.md defines each.
namespace berth::sim {

struct TraceChanges {
  std::vector<std::string> remove_users, remove_virtual_clusters;  ///< their jobs are left out
  TimeUs from_us = 0, until_us = kNever;  ///< only jobs that are submitted then count, from the first submission on
  TimeUs block_us = 0;                    ///< > 0: blocks of this length are drawn with replacement, by the seed
  std::int32_t load_ppm = 0;  ///< > 0: submissions are moved together or apart so that the jobs ask for this part of the GPU-time

  bool none() const {
    return remove_users.empty() && remove_virtual_clusters.empty() && from_us == 0 && until_us == kNever && block_us == 0 && load_ppm == 0;
  }
};

inline constexpr std::int64_t kMaxBlocks = 1'000'000;

/// The changes are applied in the order of the fields. Deadlines move with the submissions.
/// @param gpus  of the cluster that the load refers to
/// @throws InvalidArgument naming what cannot be changed.
Trace changed_trace(const Trace& trace, const TraceChanges& changes, std::int64_t gpus, std::uint64_t seed);

struct NodeChanges {
  std::int64_t add_nodes = 0;             ///< copies of the last node
  std::vector<std::string> remove_nodes;  ///< by id

  bool none() const { return add_nodes == 0 && remove_nodes.empty(); }
};

/// @throws InvalidArgument for an unknown node, or where no node stays; InputError where the result is no valid cluster.
void change_cluster(Snapshot& cluster, const NodeChanges& changes);

}  // namespace berth::sim
