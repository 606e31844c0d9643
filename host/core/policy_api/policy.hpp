#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/kernel/base/problem.hpp"
#include "berth/units.hpp"
#include "host/core/policy_api/consolidation.hpp"
#include "host/core/policy_api/delay_rule.hpp"
#include "host/core/policy_api/quotas.hpp"

/// A queue policy has a key per job (smallest first, ties by job rank), the instant at which a key changes by itself,
/// and a discipline. Policies answer in batches of jobs; they do not place.
namespace berth::core {

/// What a promise of a deadline needs to know. Columns by job index.
struct PromiseColumns {
  /// Rows of `steps`: those of a job's deadline that have not passed, ascending. None: it has no deadline, or all have passed.
  const std::int32_t* step_begin;
  const std::int32_t* step_end;
  const DeadlineStep* steps;  // values are at least 1
  const std::uint8_t* hard;   // 1: the job is useless after its deadline
  /// GPU type and GPUs that a promise would hold: any whole GPUs of the nodes that count. Type -1: none can be held for the job.
  const std::int32_t* type;
  const std::int64_t* gpus;
  const TimeUs* need;  // run time left wherever those GPUs are, and being displaced once more; kNever: not known
  const TimeUs* cost;  // that of being displaced or moved once, which `need` counts
  /// Of a running job that may not be displaced yet, or one that starts now: for how long; 0: it may be at any time; kNever: never.
  const TimeUs* stays;
  const std::int32_t* held_type;  // of a running job; -1: several
  /// Of a running job: JobColumns::remaining, if the jobs on its GPUs slow it down as much as they may; kNever: not known.
  const TimeUs* longest;
  /// [GPU types] whole GPUs of nodes that stay, are not reserved and not shared.
  std::span<const std::int64_t> type_gpus;

  std::span<const DeadlineStep> steps_of(std::int32_t job) const { return {steps + step_begin[job], steps + step_end[job]}; }
};

/// The first step that does not end before an instant; null: none.
inline const DeadlineStep* step_until(std::span<const DeadlineStep> steps, TimeUs end) {
  for (const DeadlineStep& step : steps) {
    if (step.at_us >= end) return &step;
  }
  return nullptr;
}

/// Columns by job index, at one instant.
struct JobColumns {
  const TimeUs* submit;
  const std::int32_t* priority;
  const std::int32_t* gpus;  // whole GPUs requested by the first shape, or held by a running job; at least 1
  const TimeUs* estimate;    // run time at the requested shape, kNever: not known
  const TimeUs* remaining;   // run time still needed at the requested or current shape, kNever: not known; >= 1
  const std::int64_t* attained_gpu_us;
  const TimeUs* deadline;  // kNever: none; of one that falls in steps the first that has not passed, or the last
  const std::uint8_t* running;
  const std::string* const* id;  // job ids, for columns of PolicyState
  const TimeUs* waiting_since;   // of a waiting job, kNever: since submission
  // Only for a policy that `reads_cluster`.
  const TimeUs* assigned = nullptr;  // when a running job got its GPUs, kNever: not known
  std::int64_t cluster_gpus = 0;     // that work
  // For `next_change`: changes at this instant and later may be left out. If it is not kNever, only the first change matters.
  TimeUs until = kNever;
  // Only for a policy that `reads_progress`.
  const TimeUs* run = nullptr;              // time spent running so far
  const TimeUs* ideal_run = nullptr;        // time that the work done would have taken without communication, kNever: not known
  const PromiseColumns* promise = nullptr;  // only for a policy that `promises`
};

/// A waiting job that gets no GPUs, whatever is free.
struct Refusal {
  std::int32_t job = -1;
  bool rejected = false;     // else it waits: what it would take is promised
  TimeUs earliest = kNever;  // deadline that would be promised, or instant at which it may start; kNever: not known
};

/// Compact history for predictors: attained service of finished jobs, ascending.
struct HistoryColumns {
  std::span<const std::int64_t> service_gpu_us;
};

/// Jobs of the state, for dropping rows of jobs that left.
class LiveJobs {
 public:
  virtual ~LiveJobs() = default;
  virtual bool has(const std::string& id) const = 0;
  /// The only jobs with rows that are not of the state any more; null: any may be.
  virtual const std::vector<std::string>* left() const { return nullptr; }
};

/// One decision calls learn, load, keys and next_change for all jobs that the policy orders; store and retain once the
/// plan is final.
class QueuePolicy {
 public:
  virtual ~QueuePolicy() = default;
  /// Key of each job, smallest first. An unknown key is INT64_MAX.
  virtual void keys(const JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<std::int64_t> out) = 0;
  /// First instant after `now` at which the key of each job changes by itself; kNever: only by events; `now`: all the
  /// time. Changes with which no running job falls behind a waiting one of `job_indices` may be left out.
  virtual void next_change(const JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<TimeUs> out) = 0;
  /// Whether the key of a waiting job stays the same until the job runs, whatever happens to other jobs and at any
  /// time.
  virtual bool rests_while_waiting() const { return false; }
  /// Whether the key of a running job never grows, or changes only at the instants of `next_change`, and does not
  /// change when the job starts or stops.
  virtual bool rises_only_at_changes() const { return false; }
  /// Of a policy that `rises_only_at_changes`: how much the key of a running job falls, at the most, when its remaining time, which is
  /// known, falls by a microsecond. By nothing else does it fall until the job changes; 0: it does not fall at all.
  virtual std::int64_t most_fall(const JobColumns& /*jobs*/, std::int32_t /*job*/) const { return 0; }
  /// Whether jobs that wait keep their order among themselves until one of them runs or changes, at any time, and any of all jobs have the
  /// same order as where all are asked for.
  virtual bool waiting_order_rests() const { return false; }
  /// Whether keys and their changes follow from the columns and the history. What else is kept from decision to decision
  /// is the begin of time slices, and `slice_from` has it.
  virtual bool follows_from_columns() const { return false; }
  /// Begin of the time slice of a job that got its GPUs at `assigned` < `now`, where a decision was made at the end of
  /// each of its slices before `now`. A slice that ends at `now` has not ended.
  virtual TimeUs slice_from(TimeUs assigned, TimeUs /*now*/) const { return assigned; }
  /// After `keys`: running jobs whose lease has ended, for a DelayRule under which they give up their GPUs.
  virtual std::span<const std::int32_t> lease_ended() const { return {}; }
  /// With time slices: how long a job keeps its GPUs while others wait for them; kNever: no time slices.
  virtual TimeUs time_slice() const { return kNever; }
  /// Whether it promises deadlines, and reads JobColumns::promise. Such a policy orders running jobs, too.
  virtual bool promises() const { return false; }
  /// After `keys`: waiting jobs that are left out of the pass.
  virtual std::span<const Refusal> refused() const { return {}; }
  /// Whether it reads the columns that need a pass over all running jobs and nodes.
  virtual bool reads_cluster() const { return false; }
  /// Whether keys and their changes depend on `attained_gpu_us`. Else that column may have any values.
  virtual bool reads_attained() const { return true; }
  /// Whether it reads the columns of progress.
  virtual bool reads_progress() const { return false; }
  /// Reads what it keeps from the caller's PolicyState, and writes it there. Default: nothing is kept. The loaded state
  /// is read in place: it must stay until `store`.
  virtual void load(const PolicyState&) {}
  virtual void store(PolicyState&) const {}
  /// Drops the rows of jobs that left; after `store`. Cheap when no job left.
  virtual void retain(PolicyState&, const LiveJobs&) const {}
  /// Whether it reads the history.
  virtual bool learns() const { return false; }
  /// Prepares from the history. Called before `keys` where it `learns`, also when the history is unchanged.
  virtual void learn(const HistoryColumns&) {}
};

using Params = std::vector<std::pair<std::string, std::string>>;

struct ChoiceSettings;
class ShapePolicy;

/// Registry entry of a policy that orders a queue or chooses shapes.
struct PolicyEntry {
  /// Name, rule, source and own parameters. The registry adds the rest.
  PolicyInfo info;
  kernel::Discipline discipline = kernel::Discipline::kGreedy;
  bool preemptive = false;
  bool class_rule = false;                                                        // victims only of a smaller preemption class
  std::unique_ptr<QueuePolicy> (*make)(const Params& params) = nullptr;           // null: does not order a queue
  ChoiceSettings (*choice)(const Params& params) = nullptr;                       // null: does not choose shapes
  std::unique_ptr<ShapePolicy> (*shapes)(const Params& params) = nullptr;         // null, where shapes are chosen: prices choose
  const char* work = nullptr;                                                     // see work_unit; null: the default of its kind
  std::optional<Consolidation> (*consolidation)(const Params& params) = nullptr;  // how close members must be; null: no rule
  std::optional<DelayRule> (*delays)(const Params& params) = nullptr;             // how gangs wait for domains; null: only as jobs state
  /// Least fraction of its rate that each job keeps next to others on a GPU, ppm; 0: jobs are not placed by that. Null: 0.
  std::int64_t (*sharing)(const Params& params) = nullptr;
  const char* leaves_idle = nullptr;  // why a GPU may stay idle that a job could use; null: none does
  bool counted_admission = false;     // it has the parameter `admission`
};

/// The registry (host/policy/base/registry.cpp), sorted by name.
std::span<const PolicyEntry> policy_registry();
/// @throws InvalidArgument listing the known names.
const PolicyEntry& find_policy(const std::string& name);
/// Unit of a limit of iterations: "job", "evaluation" of prices, "generation", "round". For an unknown policy: "step".
const char* work_unit(const std::string& name);

using kernel::Packing;
/// What the pass does: demands of gangs that wait for whole nodes, or for a domain, are narrowed before it.
constexpr Packing pass_packing(Packing packing) {
  return packing == Packing::kConsolidate || packing == Packing::kContention ? Packing::kTopology : packing;
}

/// Rules of a policy's scheduling pass: the parameters common to all policies, and its own placement rules.
struct PassRules {
  kernel::Discipline discipline;
  Packing packing;
  std::int32_t max_tries;
  std::optional<Consolidation> consolidation = std::nullopt;
  bool admits_by_count = false;  // only jobs run that could if places did not matter (docs/placement.md, section 11)
  Quotas quotas = Quotas::kGuarantees;
  std::optional<DelayRule> delays = std::nullopt;
  std::int64_t sharing_ppm = 0;       // see PolicyEntry::sharing
  bool displaces_over_limit = false;  // also jobs of queues above a limit displace others: see LoweredLimits
};

/// @throws InvalidArgument for a parameter that the policy does not have, one given twice, or a bad value.
PassRules pass_rules(const PolicyEntry& entry, const Params& params);

}  // namespace berth::core
