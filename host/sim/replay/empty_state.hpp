#pragma once

#include "berth/snapshot.hpp"
#include "berth/state.hpp"

namespace berth::sim {

/// A cluster without jobs, at time 0: the `now` of the snapshot. O(nodes).
/// @param shared  all nodes allow several jobs on a GPU
ClusterState empty_state(Snapshot cluster, bool shared);

}  // namespace berth::sim
