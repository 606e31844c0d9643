#pragma once

#include <string>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/export.hpp"
#include "berth/job.hpp"
#include "berth/units.hpp"

namespace berth {

/// A cluster and its jobs at one instant: the content of a `berth.snapshot.v1` file.
struct Snapshot {
  std::string name;
  std::string origin_iso;  ///< the instant of time 0, for display; may be empty
  TimeUs now_us = 0;
  std::int64_t revision = 1;  ///< revision of the state that the snapshot was taken from; plans for that state name it
  std::vector<GpuType> gpu_types;
  std::vector<Domain> domains;
  std::vector<Node> nodes;
  std::vector<Queue> queues;
  std::vector<Reservation> reservations;
  std::vector<Job> jobs;
  std::vector<FinishedJob> history;
  Extensions x;
  bool operator==(const Snapshot&) const = default;
};

/// Checks what involves more than one field: ids are unique, references known, allocations possible, counts within the caps, no cycles.
/// Reading a file and ClusterState both call it.
/// @throws InputError naming JSON pointer and value.
BERTH_API void check_snapshot(const Snapshot& snapshot, const std::string& name = "snapshot");

}  // namespace berth
