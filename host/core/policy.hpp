#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/kernel/problem.hpp"
#include "berth/units.hpp"
#include "host/core/consolidation.hpp"

/// What a queue policy is: a key per job (smallest first, ties by job rank), the instant at which a key changes by
/// itself, and a discipline. Policies answer in batches of slots; they do not place.
namespace berth::core {

/// Columns by job slot, at one instant.
struct JobColumns {
  const TimeUs* submit;
  const std::int32_t* priority;
  const std::int32_t* gpus;  // whole GPUs asked for by the first shape, or held by a running job; at least 1
  const TimeUs* estimate;    // run time at the requested shape, kNever: not known
  const TimeUs* remaining;   // run time still needed at the requested or current shape, kNever: not known; >= 1
  const std::int64_t* attained_gpu_us;
  const TimeUs* deadline;  // kNever: none
  const std::uint8_t* running;
  const std::string* const* id;  // job ids, for columns of PolicyState
  const TimeUs* waiting_since;   // of a waiting job, kNever: since submission
  // Only for a policy that `reads_cluster`.
  const TimeUs* assigned = nullptr;  // when a running job got its GPUs, kNever: not known
  std::int64_t cluster_gpus = 0;     // that work
};

/// History compact for predictors: attained service of finished jobs, ascending.
struct HistoryColumns {
  std::span<const std::int64_t> service_gpu_us;
};

/// Who is in the state, for dropping what belongs to jobs that left.
class LiveJobs {
 public:
  virtual ~LiveJobs() = default;
  virtual bool has(const std::string& id) const = 0;
};

/// One decision: learn, load, keys and next_change of all slots that the policy orders; store and retain when the plan stands.
class QueuePolicy {
 public:
  virtual ~QueuePolicy() = default;
  /// Key of each slot, smallest first. A key that cannot be known is INT64_MAX.
  virtual void keys(const JobColumns& jobs, TimeUs now, std::span<const std::int32_t> slots, std::span<std::int64_t> out) = 0;
  /// First instant after `now` at which the key of each slot changes by itself; kNever: only by events;
  /// `now`: it changes all the time (remaining time of a running job).
  virtual void next_change(const JobColumns& jobs, TimeUs now, std::span<const std::int32_t> slots, std::span<TimeUs> out) = 0;
  /// Whether the key of a waiting job stays as it is until the job runs, whatever happens to other jobs and however late it gets.
  virtual bool rests_while_waiting() const { return false; }
  /// Whether the key of a running job never grows, or is constant between the instants that `next_change` gives; and is no other when the
  /// job starts or stops.
  virtual bool rises_only_at_changes() const { return false; }
  /// Where jobs take turns, for how long one keeps its GPUs while others wait for them; kNever: they do not.
  virtual TimeUs turn() const { return kNever; }
  /// Whether it reads the columns that cost a look at every running job and node.
  virtual bool reads_cluster() const { return false; }
  /// Takes what it keeps from, and leaves it in, the caller's PolicyState. Default: nothing is kept.
  /// The loaded state is read in place: it must stay until `store`.
  virtual void load(const PolicyState&) {}
  virtual void store(PolicyState&) const {}
  /// Drops the rows of jobs that are gone; after `store`. Cheap when nobody left.
  virtual void retain(PolicyState&, const LiveJobs&) const {}
  /// Prepares from the history; called before `keys`, also when the history is as it was.
  virtual void learn(const HistoryColumns&) {}
};

using Params = std::vector<std::pair<std::string, std::string>>;

struct ChoiceSettings;
class ShapePolicy;

/// One line of the registry: a queue policy, or one that chooses shapes.
struct PolicyEntry {
  PolicyInfo info;
  kernel::Discipline discipline;
  bool preemptive;
  bool class_rule;                                                         // victims only of a smaller preemption class
  std::unique_ptr<QueuePolicy> (*make)(const Params& params);              // null: not a queue policy
  ChoiceSettings (*choice)(const Params& params) = nullptr;                // null: does not choose shapes
  std::unique_ptr<ShapePolicy> (*shapes)(const Params& params) = nullptr;  // null, where shapes are chosen: prices choose
  const char* work = nullptr;                                              // see work_unit; null: as most policies of its kind
  Consolidation (*consolidation)(const Params& params) = nullptr;          // null: wants nobody close together
};

/// The registry (host/policy/registry.cpp), sorted by name.
std::span<const PolicyEntry> policy_registry();
/// @throws InvalidArgument listing the names there are.
const PolicyEntry& find_policy(const std::string& name);
/// What a limit of work counts: "job", "evaluation" of prices, "generation", "round". Of a name that nobody knows: "step".
const char* work_unit(const std::string& name);

/// Placement by name (docs/policies.md). `consolidate` is the topology packing of demands cut into whole nodes and a rest.
enum class Placement : std::int32_t { kTopology, kCount, kConsolidate };

/// How a policy's jobs are walked: the parameters that every policy has, and what it wants of places by itself.
struct WalkRules {
  kernel::Discipline discipline;
  Placement placement;
  std::int32_t max_tries;
  std::optional<Consolidation> consolidation = std::nullopt;
};

/// @throws InvalidArgument for a parameter that the policy does not have, one given twice, or a bad value.
WalkRules walk_rules(const PolicyEntry& entry, const Params& params);

}  // namespace berth::core
