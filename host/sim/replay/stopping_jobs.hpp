#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "berth/plan.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/replay/live_job.hpp"

namespace berth::sim {

/// Displaced jobs that have not stopped: for its `grace_s` such a job uses the GPUs that it had.
class StoppingJobs {
 public:
  /// The jobs that the plan preempts begin to stop. To be called before the plan is applied to the state.
  /// A job that waits for its GPUs itself, or has lost some of them, has nothing to stop.
  void displace(const StateView& state, const Plan& plan, std::vector<LiveJob>& jobs, TimeUs now);
  /// When no such job uses one of these GPUs any more: now or later.
  TimeUs usable_from(std::span<const PlanEntry> entries, TimeUs now);

 private:
  struct Stopping {
    std::uint64_t gpus;
    TimeUs until;
  };
  std::unordered_map<std::int32_t, std::vector<Stopping>> nodes_;  // by node of the state; none is empty
};

inline std::span<const PlanEntry> entries_of(const Plan& plan, const Decision& d) {
  return std::span<const PlanEntry>(plan.entries).subspan(to_index(d.entry_begin), to_index(d.entry_end - d.entry_begin));
}

}  // namespace berth::sim
