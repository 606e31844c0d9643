#include "host/sim/counts/count_simulation.hpp"

#include <algorithm>
#include <utility>
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
    run.change_nodes([&](const JobPlace& place) { decisions.push(place); }, [&](std::int32_t pool) { decisions.look_again(pool); });
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

/// Whether counts decide under such a policy, whatever the jobs and the cluster are.
bool by_counts(const core::ChosenPolicy& chosen, const SimulationSettings& settings) {
  const bool easy = chosen.rules.discipline == kernel::Discipline::kEasy;
  const bool conservative = chosen.rules.discipline == kernel::Discipline::kConservative;
  const bool ranked = chosen.policy != nullptr && chosen.policy->follows_from_columns() && !easy && !conservative;
  const bool by_count = chosen.policy != nullptr && (ranked || rests(chosen)) && !chosen.entry->class_rule &&
                        !((easy || conservative) && chosen.entry->preemptive) && chosen.rules.packing != core::Packing::kConsolidate &&
                        chosen.rules.packing != core::Packing::kContention && !chosen.rules.consolidation && !chosen.rules.delays &&
                        !chosen.rules.admits_by_count;
  const bool steady = settings.events.events.empty() && settings.queue_changes.changes.empty() && !settings.failures.any() &&
                      !saves_while_running(settings.overheads);
  return by_count && steady && settings.round_us == 0 && settings.request.max_iterations == 0 && settings.request.budget_us == 0;
}

SimulationTotals simulate_chosen(CountRun& run, const core::ChosenPolicy& chosen) {
  const bool easy = chosen.rules.discipline == kernel::Discipline::kEasy;
  const bool strict = chosen.rules.discipline == kernel::Discipline::kStrict;
  const bool conservative = chosen.rules.discipline == kernel::Discipline::kConservative;
  if (chosen.policy->follows_from_columns() && !easy && !conservative) {
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

}  // namespace

struct CountSimulations::Kept {
  core::ChosenPolicy chosen;
  NodeCounts nodes;
  bool used = false;
};

CountSimulations::CountSimulations() = default;
CountSimulations::~CountSimulations() = default;
CountSimulations::CountSimulations(CountSimulations&&) noexcept = default;
CountSimulations& CountSimulations::operator=(CountSimulations&&) noexcept = default;

bool CountSimulations::begin(const TraceFacts& facts, const Snapshot& cluster, const SimulationSettings& settings) {
  if (settings.decide || settings.iterations || settings.links != LinkModel::kNone) return false;  // their policies are others
  kept_ = std::make_unique<Kept>();
  kept_->chosen.choose(settings.request.policy, settings.request.params);
  if (!by_counts(kept_->chosen, settings)) return false;
  // Counts do not know which GPUs displaced jobs still use.
  if (facts.longest_grace_us > 0 && kept_->chosen.entry->preemptive) return false;
  return kept_->nodes.begin(cluster, facts, kept_->chosen.rules.packing);
}

SimulationTotals CountSimulations::run(const Replayed& trace, const SimulationSettings& settings,
                                       const std::function<void(const JobOutcome&)>& done, ResumedJobs* resumed) {
  if (std::exchange(kept_->used, true)) kept_->nodes.clear();
  core::ChosenPolicy chosen;  // policies may keep something of a run
  chosen.choose(settings.request.policy, settings.request.params);
  CountRun run(trace, settings, done, chosen, kept_->nodes, resumed);
  return simulate_chosen(run, chosen);
}

std::optional<SimulationTotals> simulate_counts(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
                                                const std::function<void(const JobOutcome&)>& done, ResumedJobs* resumed) {
  CountSimulations simulations;
  if (!simulations.begin(trace.facts, cluster, settings)) return std::nullopt;
  return simulations.run(trace, settings, done, resumed);
}

}  // namespace berth::sim
