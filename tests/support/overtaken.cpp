#include "tests/support/overtaken.hpp"

#include <string>
#include <utility>

#include "berth/error.hpp"
#include "berth/state.hpp"

namespace berth::test {
namespace {

// Of the job's queue, or of one above it.
Queue queue_of(Random& random, const Snapshot& s, const Job& job) {
  Queue found;
  std::string id = job.queue;
  while (!id.empty()) {
    for (const Queue& queue : s.queues) {
      if (queue.id == id) found = queue;
    }
    id = random.percent(30) ? found.parent : "";
  }
  return found;
}

Delta lower_limit(Random& random, const Snapshot& s, const Job& job) {
  Queue lowered = queue_of(random, s, job);
  Quota quota;
  quota.gpu_type = random.percent(70) ? "*" : random.of(s.gpu_types).id;
  quota.limit = random.below(12);
  std::erase_if(lowered.quotas, [&](const Quota& other) { return other.gpu_type == quota.gpu_type; });
  lowered.quotas.push_back(std::move(quota));
  return delta::PutQueue{std::move(lowered)};
}

Delta loss(Random& random, const Snapshot& s, const Job& job, std::int32_t number) {
  const AllocationEntry& entry = random.of(job.allocation.entries);
  const TimeUs later = s.now_us + random.within(1, 2'000) * kSecond;
  switch (random.below(job.queue.empty() ? 5 : 10)) {
    case 0:
      return delta::SetGpuState{entry.node, random.of(entry.gpus), GpuState::kFailed, kNever};
    case 1:
      return delta::SetGpuState{entry.node, random.of(entry.gpus), GpuState::kReleasing, later};
    case 2:
      return delta::SetNodeState{entry.node, NodeState::kFailed, 0};
    case 3:
      return delta::SetNodeState{entry.node, random.percent(50) ? NodeState::kDrain : NodeState::kReleasing, 0};
    case 4: {
      Reservation kept;
      kept.id = "after" + std::to_string(number);
      kept.nodes = {entry.node};
      kept.from_us = random.percent(50) ? s.now_us : later;
      kept.to_us = kept.from_us + kSecond;
      return delta::PutReservation{std::move(kept)};
    }
    default:
      return lower_limit(random, s, job);
  }
}

}  // namespace

std::vector<Delta> random_losses(Random& random, const Snapshot& s) {
  std::vector<const Job*> running;
  for (const Job& job : s.jobs) {
    if (job.state == JobState::kRunning && !job.allocation.entries.empty()) running.push_back(&job);
  }
  std::vector<Delta> losses;
  const std::int32_t n = running.empty() ? 0 : random.within(1, 5);
  for (std::int32_t i = 0; i < n; ++i) losses.push_back(loss(random, s, *random.of(running), i));
  return losses;
}

Snapshot overtaken(const Snapshot& s, std::uint64_t seed) {
  Random random(seed * 0x9e3779b97f4a7c15ull + 11);
  ClusterState state(s);
  for (Delta& one : random_losses(random, s)) {
    try {
      state.apply(std::move(one));
    } catch (const InputError&) {  // such as a limit below a guarantee
    }
  }
  return state.snapshot();
}

}  // namespace berth::test
