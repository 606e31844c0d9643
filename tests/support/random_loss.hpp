#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/delta.hpp"
#include "berth/snapshot.hpp"

/// What makes a state illegal after the fact, for random tests and for fuzz targets.
namespace berth::test {

/// Jobs that run, and so have something to lose.
inline std::vector<const Job*> losing_jobs(const Snapshot& s) {
  std::vector<const Job*> running;
  for (const Job& job : s.jobs) {
    if (job.state == JobState::kRunning && !job.allocation.entries.empty()) running.push_back(&job);
  }
  return running;
}

/// The limit of the job's queue, or of one above it, falls to 0..11 GPUs.
template <class Draws>
Delta lower_limit(Draws& draws, const Snapshot& s, const Job& job) {
  Queue lowered;
  std::string id = job.queue;
  while (!id.empty()) {
    for (const Queue& queue : s.queues) {
      if (queue.id == id) lowered = queue;
    }
    id = draws.below(10) < 3 ? lowered.parent : "";
  }
  Quota quota;
  quota.gpu_type = draws.below(10) < 7 ? "*" : draws.of(s.gpu_types).id;
  quota.limit = draws.below(12);
  std::erase_if(lowered.quotas, [&](const Quota& other) { return other.gpu_type == quota.gpu_type; });
  lowered.quotas.push_back(std::move(quota));
  return delta::PutQueue{std::move(lowered)};
}

/// Under a running job: its queue's limit is lowered, its GPUs or nodes fail, drain, are released or kept for others. A state may refuse
/// it.
/// @param draws   Has `below` and `of`: a Random, or the bytes of a fuzzer.
/// @param number  Names a reservation.
template <class Draws>
Delta random_loss(Draws& draws, const Snapshot& s, const Job& job, std::int32_t number) {
  const AllocationEntry& entry = draws.of(job.allocation.entries);
  const TimeUs later = s.now_us + (1 + draws.below(2'000)) * kSecond;
  switch (draws.below(job.queue.empty() ? 5 : 10)) {
    case 0:
      return delta::SetGpuState{entry.node, draws.of(entry.gpus), GpuState::kFailed, kNever};
    case 1:
      return delta::SetGpuState{entry.node, draws.of(entry.gpus), GpuState::kReleasing, later};
    case 2:
      return delta::SetNodeState{entry.node, NodeState::kFailed, 0};
    case 3:
      return delta::SetNodeState{entry.node, draws.below(2) == 0 ? NodeState::kDrain : NodeState::kReleasing, 0};
    case 4: {
      Reservation kept;
      kept.id = "after" + std::to_string(number);
      kept.nodes = {entry.node};
      kept.from_us = draws.below(2) == 0 ? s.now_us : later;
      kept.to_us = kept.from_us + 100 * kSecond;
      return delta::PutReservation{std::move(kept)};
    }
    default:
      return lower_limit(draws, s, job);
  }
}

}  // namespace berth::test
