#include "host/sim/simulation.hpp"

#include <optional>

#include "host/sim/counts/count_simulation.hpp"
#include "host/sim/replay/progress_reports.hpp"
#include "host/sim/replay/replay_plans.hpp"
#include "host/sim/replay/time_slices.hpp"

namespace berth::sim {

SimulationTotals simulate(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
                          const std::function<void(const JobOutcome&)>& done) {
  check_time_slices(settings, trace.facts.longest_grace_us);
  (void)ProgressReports(settings.progress, 0);  // reports an invalid setting even where no job reports progress
  std::optional<SimulationTotals> by_counts = simulate_counts(trace, cluster, settings, done);
  return by_counts ? *by_counts : replay_plans(trace, cluster, settings, done);
}

SimulationTotals simulate(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings,
                          const std::function<void(const JobOutcome&)>& done) {
  JobsOf jobs(trace);
  return simulate({trace.profiles, facts_of(trace), jobs}, cluster, settings, done);
}

}  // namespace berth::sim
