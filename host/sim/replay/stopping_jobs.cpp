#include "host/sim/replay/stopping_jobs.hpp"

#include <algorithm>

#include "host/core/base/wide.hpp"

namespace berth::sim {

void StoppingJobs::displace(const StateView& state, const Plan& plan, std::vector<LiveJob>& jobs, TimeUs now) {
  for (const Decision& d : plan.decisions) {
    if (d.action != Action::kPreempt) continue;
    LiveJob& job = jobs[to_index(d.job)];
    if (job.traced->grace_us == 0 || job.stalled || now <= job.begins_at) continue;
    job.stops_at = core::saturating_add(now, job.traced->grace_us);
    for (const PlanEntry& entry : state.jobs()[to_index(d.job)].entries) nodes_[entry.node].push_back({entry.gpus, job.stops_at});
  }
}

TimeUs StoppingJobs::usable_from(std::span<const PlanEntry> entries, TimeUs now) {
  TimeUs from = now;
  if (nodes_.empty()) return from;
  for (const PlanEntry& entry : entries) {
    const auto node = nodes_.find(entry.node);
    if (node == nodes_.end()) continue;
    std::erase_if(node->second, [&](const Stopping& one) { return one.until <= now; });
    for (const Stopping& one : node->second) {
      if ((one.gpus & entry.gpus) != 0) from = std::max(from, one.until);
    }
    if (node->second.empty()) nodes_.erase(node);
  }
  return from;
}

}  // namespace berth::sim
