#include "host/sim/counts/count_simulation.hpp"

#include <algorithm>
#include <vector>

#include "host/sim/base/overheads.hpp"
#include "host/sim/counts/backfill_decisions.hpp"
#include "host/sim/counts/conservative_decisions.hpp"
#include "host/sim/counts/count_run.hpp"
#include "host/sim/counts/line_decisions.hpp"
#include "host/sim/counts/ranked_decisions.hpp"

namespace berth::sim {
namespace {

template <class Decisions>
SimulationTotals simulate_with(CountRun& run, Decisions& decisions) {
  const auto look = [&](std::int32_t pool, const JobPlace& place) { decisions.look_behind_again(pool, place); };
  const auto receive = [&](const JobPlace& place, bool last) {
    CountedJob& job = run.jobs()[place.job];
    // Most jobs fit at once and have no job before them.
    if (last && decisions.is_empty(job.pool) && run.nodes().take(job.pool, job.gpus, run.jobs().taken(place.job))) {
      run.start(place, false);
    } else {
      decisions.push(place);
      run.wait(place.job);
    }
  };
  for (TimeUs now = run.next_event(); now != kNever; now = run.next_event()) {
    if (run.interrupted()) break;
    run.advance(now);
    run.complete(look);
    run.wake(look);
    run.arrive(receive);
    decisions.decide();
    run.decided();
  }
  std::vector<std::int32_t> waiting;
  for (std::int32_t job = decisions.take_any(); job >= 0; job = decisions.take_any()) waiting.push_back(job);
  return run.finish(waiting);
}

/// Whether waiting jobs keep their keys, and the order of running jobs can be kept.
bool rests(const core::ChosenPolicy& chosen) {
  return chosen.policy->rests_while_waiting() && (!chosen.entry->preemptive || chosen.policy->rises_only_at_changes());
}

}  // namespace

std::optional<SimulationTotals> simulate_counts(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
                                                const std::function<void(const JobOutcome&)>& done) {
  if (settings.decide || settings.iterations || settings.links != LinkModel::kNone) return std::nullopt;
  core::ChosenPolicy chosen;
  chosen.choose(settings.request.policy, settings.request.params);
  const bool easy = chosen.rules.discipline == kernel::Discipline::kEasy;
  const bool strict = chosen.rules.discipline == kernel::Discipline::kStrict;
  const bool conservative = chosen.rules.discipline == kernel::Discipline::kConservative;
  const bool ranked = chosen.policy != nullptr && chosen.policy->follows_from_columns() && !easy && !conservative;
  const bool by_count = chosen.policy != nullptr && (ranked || rests(chosen)) && !chosen.entry->class_rule &&
                        !((easy || conservative) && chosen.entry->preemptive) && chosen.rules.packing != core::Packing::kConsolidate &&
                        chosen.rules.packing != core::Packing::kContention && !chosen.rules.consolidation && !chosen.rules.admits_by_count;
  const bool steady = settings.events.events.empty() && settings.queue_changes.changes.empty() && !settings.failures.any() &&
                      !saves_while_running(settings.overheads);
  if (!by_count || !steady || settings.round_us > 0 || settings.request.max_iterations > 0 || settings.request.budget_us > 0)
    return std::nullopt;
  NodeCounts nodes;
  if (!nodes.begin(cluster, trace.facts, chosen.rules.packing)) return std::nullopt;
  CountRun run(trace, settings, done, chosen, nodes);
  if (ranked) {
    RankedDecisions decisions(run, *chosen.policy, strict);
    return simulate_with(run, decisions);
  }
  if (easy) {
    BackfillDecisions decisions(run);
    return simulate_with(run, decisions);
  }
  if (conservative) {
    ConservativeDecisions decisions(run);
    return simulate_with(run, decisions);
  }
  LineDecisions decisions(run, strict);
  return simulate_with(run, decisions);
}

}  // namespace berth::sim
