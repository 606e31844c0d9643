#include "host/sim/batch/replay_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/policy/base/params.hpp"
#include "host/sim/base/estimator.hpp"
#include "host/sim/base/job_source.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/batch/replay_columns.hpp"
#include "host/sim/counts/node_counts.hpp"

namespace berth::sim {
namespace {

/// The pools of a cluster: which of them each kind of job has, and their GPUs.
struct PoolsOf {
  std::string why_not;
  std::vector<std::int32_t> of_kind;   // [kinds of jobs]
  std::vector<std::int64_t> capacity;  // [pools]
  std::int64_t gpus = 0;               // of the cluster
  bool takes_first = false;            // a job takes the first GPUs that are free
};

/// How a policy orders jobs in a replay, or why it does not.
struct Rule {
  std::string why_not;
  kernel::ReplayKey kind{};
  bool strict = false;
  std::vector<std::int64_t> thresholds;
};

std::optional<kernel::ReplayKey> kind_of(const core::ChosenPolicy& chosen) {
  const std::string& name = chosen.entry->info.name;
  if (!chosen.policy->rests_while_waiting() || chosen.entry->class_rule) return std::nullopt;
  if (!chosen.entry->preemptive) return kernel::ReplayKey::kFixed;
  if (!chosen.policy->rises_only_at_changes()) return std::nullopt;
  if (name == "srtf") return kernel::ReplayKey::kRemaining;
  if (name == "srsf") return kernel::ReplayKey::kRemainingService;
  if (name == "las") return kernel::ReplayKey::kLevel;
  return std::nullopt;
}

Rule rule_of(const ReplaySpec& spec, const core::ChosenPolicy& chosen) {
  Rule rule;
  const core::PassRules& rules = chosen.rules;
  const std::optional<kernel::ReplayKey> kind = chosen.policy == nullptr ? std::nullopt : kind_of(chosen);
  rule.strict = rules.discipline == kernel::Discipline::kStrict;
  if (!kind.has_value()) {
    rule.why_not = fmt::format("policy '{}' with these parameters is not one of the queue policies that can be replayed", spec.policy);
  } else if (!rule.strict && rules.discipline != kernel::Discipline::kGreedy) {
    rule.why_not = "the discipline is neither strict nor greedy";
  } else if (rules.packing == core::Packing::kConsolidate || rules.packing == core::Packing::kContention || rules.consolidation ||
             rules.delays || rules.admits_by_count) {
    rule.why_not = "jobs are consolidated, placed by contention, or admitted by count";
  } else if (spec.estimates == "rolling" && reads_estimates(spec)) {
    rule.why_not = "rolling estimates follow from the replay";
  } else {
    rule.kind = *kind;
    if (rule.kind == kernel::ReplayKey::kLevel) {
      rule.thresholds = policy::Settings(chosen.entry->info, spec.params).ascending_millionths("thresholds_gpu_s", 1, kMaxTimeUs, 63);
    }
  }
  return rule;
}

/// Jobs that every cluster puts into the same pool.
struct Kinds {
  std::vector<std::int32_t> of;         // [jobs]
  std::vector<const TraceJob*> one_of;  // [kinds]

  explicit Kinds(const Trace& trace) {
    std::map<std::pair<std::string_view, std::string_view>, std::int32_t> known;
    for (const TraceJob& job : trace.jobs) {
      const auto [kind, fresh] = known.try_emplace({job.gpu_type, job.virtual_cluster}, static_cast<std::int32_t>(known.size()));
      if (fresh) one_of.push_back(&job);
      of.push_back(kind->second);
    }
  }
};

PoolsOf pools_of(const Snapshot& cluster, const TraceFacts& facts, kernel::Packing packing, const Kinds& kinds) {
  PoolsOf pools;
  NodeCounts nodes;
  if (!nodes.begin(cluster, facts, packing)) {
    pools.why_not = "more than counts of free GPUs decides which jobs run";
    return pools;
  }
  pools.gpus = nodes.gpus();
  pools.takes_first = nodes.takes_first();
  std::map<std::int32_t, std::int32_t> known;  // pool of the cluster -> pool of the replay
  for (const TraceJob* job : kinds.one_of) {
    const std::int32_t pool = nodes.pool_of(*job);
    const auto [found, fresh] = known.try_emplace(pool, static_cast<std::int32_t>(known.size()));
    if (fresh) pools.capacity.push_back(pool < 0 ? 0 : nodes.total(pool));
    pools.of_kind.push_back(found->second);
  }
  return pools;
}

void check(const ReplaySpec& spec, std::size_t jobs) {
  if (spec.cluster == nullptr) throw InvalidArgument("a replay without a cluster");
  if (!spec.run_us.empty() && spec.run_us.size() != jobs) {
    throw InvalidArgument(fmt::format("{} run times for {} jobs", spec.run_us.size(), jobs));
  }
  if (std::any_of(spec.run_us.begin(), spec.run_us.end(), [](TimeUs run) { return run < 0; })) {
    throw InvalidArgument("a run time below 0");
  }
  const Estimator known(spec.estimates, spec.seed);
}

/// The replays of specs that agree in the pool of each job.
class ReplayGroup {
 public:
  ReplayGroup(const Trace& trace, const Overheads& overheads, const Kinds& kinds, const PoolsOf& pools)
      : columns_(trace, overheads, pools_of_jobs(kinds, pools), static_cast<std::int32_t>(pools.capacity.size())) {}

  void add(std::size_t index, const ReplaySpec& spec, Rule rule, core::QueuePolicy& policy, const PoolsOf& pools) {
    const ReplayOrder& order = columns_.order(spec, policy, rule.kind);
    members_.push_back({index, std::move(rule), &order, &pools, spec.run_us.empty() ? nullptr : spec.run_us.data(),
                        spec.estimates == "oracle" || spec.estimates == "reactive"});
  }

  void run(const Trace& trace, core::PlacementBackend& backend, bool with_jobs, core::StopToken* stop_token,
           std::vector<ReplayOutcome>& outcomes) {
    const kernel::ReplayView view = columns_.view();
    std::vector<core::ReplayTask> tasks;
    std::vector<kernel::ReplayTotals> totals(members_.size());
    std::vector<kernel::ReplayResult> results;
    // Each thread stops by itself.
    std::vector<core::StopToken> stops(stop_token == nullptr ? 0 : members_.size(),
                                       stop_token == nullptr ? core::StopToken{} : *stop_token);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Member& one = members_[i];
      const ReplayOrder& order = *one.order;
      const auto column = [](const std::vector<std::int64_t>& values) { return values.empty() ? nullptr : values.data(); };
      tasks.push_back({{one.rule.kind, one.rule.strict ? 1 : 0, one.knows_work ? 1 : 0,
                        static_cast<std::int32_t>(one.rule.thresholds.size()), one.run_us, column(order.estimate), column(order.key),
                        order.job_at.data(), order.position.data(), one.pools->capacity.data(), one.rule.thresholds.data()},
                       stop_token == nullptr ? nullptr : &stops[i]});
      ReplayedJobs& jobs = outcomes[one.index].jobs;
      kernel::ReplayResult result{};
      result.totals = &totals[i];
      if (with_jobs) result = with_columns(jobs, trace.jobs.size(), totals[i]);
      results.push_back(result);
    }
    backend.replay(view, tasks, results);
    for (const core::StopToken& one : stops) {
      if (one.stopped_at >= 0) *stop_token = one;
    }
    for (std::size_t i = 0; i < members_.size(); ++i) finish(trace, members_[i], totals[i], outcomes[members_[i].index]);
  }

 private:
  struct Member {
    std::size_t index;
    Rule rule;
    const ReplayOrder* order;
    const PoolsOf* pools;
    const TimeUs* run_us;
    bool knows_work;
  };

  static std::vector<std::int32_t> pools_of_jobs(const Kinds& kinds, const PoolsOf& pools) {
    std::vector<std::int32_t> of;
    of.reserve(kinds.of.size());
    for (const std::int32_t kind : kinds.of) of.push_back(pools.of_kind[to_index(kind)]);
    return of;
  }
  static kernel::ReplayResult with_columns(ReplayedJobs& jobs, std::size_t n, kernel::ReplayTotals& totals) {
    for (auto* column : {&jobs.start_us, &jobs.end_us, &jobs.held_us, &jobs.restarting_us, &jobs.moving_us}) column->assign(n, kNever);
    for (auto* column : {&jobs.starts, &jobs.preemptions, &jobs.moves}) column->assign(n, 0);
    return {&totals,
            jobs.start_us.data(),
            jobs.end_us.data(),
            jobs.held_us.data(),
            jobs.restarting_us.data(),
            jobs.moving_us.data(),
            jobs.starts.data(),
            jobs.preemptions.data(),
            jobs.moves.data()};
  }
  static void finish(const Trace& trace, const Member& member, const kernel::ReplayTotals& of, ReplayOutcome& outcome) {
    if (of.too_late >= 0) {
      throw InvalidArgument(fmt::format("job '{}' would end beyond the largest time", trace.jobs[to_index(of.too_late)].id));
    }
    SimulationTotals& totals = outcome.totals;
    totals.first_submit_us = trace.jobs.empty() ? 0 : trace.jobs.front().submit_us;
    totals.last_end_us = of.last_end == kNever ? totals.first_submit_us : of.last_end;
    totals.last_release_us = of.last_release == kNever ? totals.first_submit_us : of.last_release;
    totals.gpus = member.pools->gpus;
    totals.gpu_us = of.gpu_us;
    totals.gpu_up_us = __int128{totals.gpus} * (totals.last_release_us - totals.first_submit_us);
    totals.decisions = of.decisions;
    totals.interrupted = of.stopped != 0;
    outcome.completed = of.completed;
    outcome.rejected = of.rejected;
    outcome.starts = of.starts;
    outcome.preemptions = of.preemptions;
    outcome.moves = of.moves;
    outcome.jct_us = of.jct_us;
    outcome.wait_us = of.wait_us;
  }

  ReplayColumns columns_;
  std::vector<Member> members_;
};

}  // namespace

std::vector<ReplayOutcome> replay_batch(const Trace& trace, const Overheads& overheads, std::span<const ReplaySpec> specs,
                                        core::PlacementBackend& backend, bool with_jobs, core::StopToken* stop_token) {
  JobsOf sorted(trace);
  while (sorted.next() != nullptr) {
  }
  const TraceFacts facts = facts_of(trace);
  const Kinds kinds(trace);
  const bool saves = saves_while_running(overheads);
  std::map<std::pair<const Snapshot*, kernel::Packing>, PoolsOf> clusters;
  std::map<std::vector<std::int32_t>, ReplayGroup> groups;  // by pools of the kinds of jobs
  std::vector<ReplayOutcome> outcomes(specs.size());
  core::ChosenPolicy chosen;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const ReplaySpec& spec = specs[i];
    check(spec, trace.jobs.size());
    chosen.choose(spec.policy, spec.params);
    Rule rule = rule_of(spec, chosen);
    const auto known = clusters.find({spec.cluster, chosen.rules.packing});
    const PoolsOf& pools =
        known != clusters.end()
            ? known->second
            : clusters.emplace(std::pair(spec.cluster, chosen.rules.packing), pools_of(*spec.cluster, facts, chosen.rules.packing, kinds))
                  .first->second;
    std::string& why_not = outcomes[i].why_not;
    why_not = !rule.why_not.empty() ? rule.why_not : pools.why_not;
    if (why_not.empty() && saves) why_not = "jobs save checkpoints while they run";
    if (why_not.empty() && rule.kind != kernel::ReplayKey::kFixed && facts.longest_grace_us > 0) {
      why_not = "jobs that may be displaced have a grace_s to stop";
    }
    if (why_not.empty() && rule.kind != kernel::ReplayKey::kFixed && !pools.takes_first) {
      why_not = "which job gives way depends on packing; only 'count' on nodes without inner groups is replayed";
    }
    if (!why_not.empty()) continue;
    const auto group = groups.try_emplace(pools.of_kind, trace, overheads, kinds, pools).first;
    group->second.add(i, spec, std::move(rule), *chosen.policy, pools);
  }
  for (auto& [of_kind, group] : groups) group.run(trace, backend, with_jobs, stop_token, outcomes);
  return outcomes;
}

}  // namespace berth::sim
