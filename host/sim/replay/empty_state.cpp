#include "host/sim/replay/empty_state.hpp"

#include <algorithm>
#include <utility>

namespace berth::sim {

// Times of a snapshot count from its origin; a simulation begins at its `now`.
ClusterState empty_state(Snapshot cluster, bool shared) {
  cluster.jobs.clear();
  cluster.history.clear();
  const TimeUs begin = std::exchange(cluster.now_us, 0);
  const auto shift = [begin](TimeUs& at) { at = at == kNever ? kNever : std::max<TimeUs>(0, at - begin); };
  for (Node& node : cluster.nodes) {
    shift(node.available_from_us);
    shift(node.available_until_us);
    for (Gpu& gpu : node.gpu_list) shift(gpu.free_at_us);
    if (shared) node.sharing = true;
  }
  for (Reservation& reservation : cluster.reservations) {
    shift(reservation.from_us);
    shift(reservation.to_us);
  }
  return ClusterState(std::move(cluster), "cluster");
}

}  // namespace berth::sim
