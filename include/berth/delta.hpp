#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "berth/snapshot.hpp"

/// Changes of a ClusterState. A batch is applied as a whole or not at all.
namespace berth::delta {

/// Replaces the whole state. Loading a snapshot is one delta.
struct Load {
  Snapshot snapshot;
};
/// Moves the clock forward, never backward. Running jobs progress at their rate.
struct SetTime {
  TimeUs now_us = 0;
};
/// Adds a node, or replaces the node with the same id. Its running jobs must still fit.
struct PutNode {
  Node node;
};
/// Removes a node that no running job uses.
struct RemoveNode {
  std::string node;
};
/// A node fails, drains or recovers. Jobs on a failed node stay and are marked as having lost GPUs, until they are repaired or stopped.
struct SetNodeState {
  std::string node;
  NodeState state = NodeState::kReady;
  TimeUs available_from_us = 0;
};
/// A GPU fails, is being released, or recovers.
struct SetGpuState {
  std::string node;
  std::int32_t index = 0;  ///< of the GPU in its node
  GpuState state = GpuState::kOk;
  TimeUs free_at_us = kNever;
};
/// Adds a job (an arrival), or replaces the job with the same id.
struct PutJob {
  Job job;
};
/// The job ended or was withdrawn; its GPUs become free. `status` is recorded in the history unless it is empty.
struct RemoveJob {
  std::string job;
  std::string status;
};
/// A waiting job starts, or a running one changes its allocation.
struct StartJob {
  std::string job;
  Allocation allocation;
};
/// A running job stops and waits again, keeping its progress.
struct StopJob {
  std::string job;
};
/// A measurement replaces the extrapolated progress of a job.
struct SetProgress {
  std::string job;
  Progress progress;
};
/// Adds or replaces a queue.
struct PutQueue {
  Queue queue;
};
/// Adds or replaces a reservation.
struct PutReservation {
  Reservation reservation;
};
struct RemoveReservation {
  std::string reservation;
};

}  // namespace berth::delta

namespace berth {

using Delta = std::variant<delta::Load, delta::SetTime, delta::PutNode, delta::RemoveNode, delta::SetNodeState, delta::SetGpuState,
                           delta::PutJob, delta::RemoveJob, delta::StartJob, delta::StopJob, delta::SetProgress, delta::PutQueue,
                           delta::PutReservation, delta::RemoveReservation>;

}  // namespace berth
