#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/delta.hpp"
#include "berth/kernel/base/problem.hpp"
#include "berth/plan.hpp"
#include "berth/snapshot.hpp"
#include "host/core/base/job_rows.hpp"
#include "host/core/model/capacity.hpp"
#include "host/core/model/cluster_facts.hpp"
#include "host/core/model/demands.hpp"
#include "host/core/model/filters.hpp"
#include "host/core/model/topologies.hpp"
#include "host/core/state/change_log.hpp"

namespace berth {

/// Jobs of a loaded snapshot stay in its array, which avoids moving a hundred thousand of them; later ones own their
/// memory.
struct JobDelete {
  bool owned = true;
  void operator()(Job* job) const {
    if (owned) {
      delete job;
    } else {
      *job = Job{};
    }
  }
};
using JobPtr = std::unique_ptr<Job, JobDelete>;

/// One job: the description, and what is compiled from it alone.
struct JobRecord {
  JobPtr job;                              // null: no job
  std::vector<kernel::OptionRow> options;  // least GPU-time first
  std::vector<std::int64_t> option_rate;   // millionths of the unit per second
  std::vector<kernel::HeldRow> held;       // of a running job
  std::vector<PlanEntry> entries;          // the same in the form of a plan
  bool several_shapes = false;             // whether the options are of several shapes
  bool longest_wait = false;               // whether the job states how long it waits for a level
  std::uint64_t rates_hash = 0;            // of id and option_rate
  std::uint64_t version = 0;               // changes with the description or its compiled form; never 0
};

/// Common properties of the nodes of one GPU type, for rates before placement.
struct TypeSize {
  std::int32_t gpus_per_node = 0;    // maximum over nodes
  std::int64_t nic_bytes_per_s = 0;  // minimum over the nodes that state it
  std::int64_t nvlink_gpus = 0;      // maximum in one domain of the nvlink topology
  bool operator==(const TypeSize&) const = default;
};

/// Columns by job index that policies and the scheduling pass read. Maintained change by change.
struct JobStore {
  std::vector<TimeUs> deadline;  // of one that falls in steps the first that is later than `now`, or the last
  std::vector<TimeUs> submit, estimate, time_limit, run, progress_at, victim_from, waiting_since;
  std::vector<std::int64_t> estimate_rate;  // > 0: the estimate determines the work left, at this rate (the requested one)
  std::vector<std::int64_t> work_left;      // millionths of the unit at `progress_at`; INT64_MAX: not known
  std::vector<TimeUs> waiting_left;         // run time left of a job that waits, kNever: not known
  std::vector<TimeUs> end;                  // predicted end of a running job, where it does not depend on `now`; else kNever
  std::vector<std::int64_t> rate;           // current rate of a running job, of the first option of a waiting one
  std::vector<std::int64_t> attained;       // GPU-us at `progress_at`
  std::vector<TimeUs> hard_deadline;        // kNever: none, or a soft one
  std::vector<std::int32_t> priority, gpus, preemption_class, queue, held_type, shape;
  std::vector<std::int32_t> local_batch;         // of the shape in which it runs
  std::vector<std::int64_t> learning_rate_pico;  // of the same
  std::vector<std::uint8_t> running;
  std::vector<std::uint64_t> version;  // of JobRecord
  std::vector<const std::string*> id;

  void resize(std::size_t n);
};

/// Columns by node rank.
struct NodeStore {
  std::vector<std::int32_t> type;
  std::vector<std::uint64_t> usable;             // GPUs that work, including held ones being released; none on a failed node
  std::vector<std::uint64_t> held;               // held whole, or carrying shares
  std::vector<std::uint64_t> drained, failed;    // GPUs out of service: that work, of a drained node; that failed, or whose node did
  std::vector<std::uint64_t> free, open, spare;  // kernel columns
  std::vector<std::int64_t> cpu, memory;         // kernel columns: free now
  std::vector<std::int64_t> cpu_held, memory_held;
  std::vector<TimeUs> until;
  std::vector<std::uint8_t> sharing;
  std::int32_t sharing_nodes = 0;  // how many
  std::vector<std::int32_t> inner_begin, gpu_begin;
  std::vector<std::uint64_t> inner_mask;
  std::vector<std::int32_t> gpu_used_ppm;
  std::vector<std::int64_t> gpu_used_memory;
  bool has_until = false;
};

/// The content of ClusterState: descriptions, and the problem compiled from them, kept in step by every change.
class StateImpl {
 public:
  StateImpl() = default;
  StateImpl(StateImpl&&) = default;
  StateImpl& operator=(StateImpl&&) = default;  // `jobs` before `loaded_jobs_`, as they are declared
  ~StateImpl() { jobs.clear(); }

  std::uint64_t apply(std::span<const Delta> deltas);
  /// The first load of a new state, as the delta `Load`.
  void start(Snapshot snapshot, const std::string& source);
  Snapshot snapshot() const;

  /// The columns of the current revision; cheap when nothing changed. Valid until the next change.
  const kernel::ProblemView& problem() const;
  /// What changed. Everything, where `structure_version` changes other than by rows of demands.
  const core::ChangeLog& log() const { return log_; }
  /// Remaining run time of a job in an option, from `now`; kNever: not known. Unknown lengths fall back to the time
  /// limit.
  TimeUs option_run(std::int32_t job_index, std::size_t option) const;
  /// Earliest possible end of a waiting job, if it is past its hard deadline in every alternative; kNever: it is not,
  /// or it is not known. Time limits do not count: a job may end before them.
  TimeUs too_late(std::int32_t job_index) const;
  /// The last instant at which the job could start again and meet its hard deadline in some alternative; kNever: any.
  TimeUs last_start(std::int32_t job_index) const;
  /// Work left now, millionths of the unit; INT64_MAX: not known.
  std::int64_t work_left_now(std::int32_t job_index) const;
  /// Run time left at a rate; kNever: not known.
  TimeUs run_at(std::int32_t job_index, std::int64_t rate) const;
  /// The same; where it is not known, what the time limit leaves.
  TimeUs run_or_limit(std::int32_t job_index, std::int64_t rate) const;
  TimeUs remaining_or_limit(std::int32_t job_index) const;
  TimeUs or_limit(std::int32_t job_index, TimeUs predicted) const;
  /// Hash of the rates that decisions read, over all jobs; their order does not matter.
  std::uint64_t tables_hash() const { return tables_; }
  /// Everything that exists, whatever its state, for certificates.
  core::SupplyView total_supply() const;
  /// Changes when demands, filters or node descriptions change. Never 0.
  std::uint64_t structure_version() const { return (structure_ << 32) + demands.rows().size() + 1; }
  /// The same without demands that are added. Never 0.
  std::uint64_t cluster_version() const { return structure_ + 1; }
  /// Changes when a job comes, goes or gets a new description. Never 0.
  std::uint64_t options_version() const { return options_version_; }
  /// The descriptions as the validator reads them, kept in step with the changes since the last call.
  const core::ClusterFacts& facts() const;
  /// Run time left at the current (or requested) shape, at least 1; kNever: not known.
  TimeUs remaining(std::int32_t job_index) const;
  std::int64_t attained_now(std::int32_t job_index) const;
  TimeUs run_now(std::int32_t job_index) const;
  /// Advances the progress of a running job from its last report to now; a waiting job's stays.
  void advance(std::int32_t job_index, Progress& progress) const;
  /// GPUs that did not fail, on a node that did not: held, free, of a drained node, or being released.
  std::uint64_t working_gpus(std::int32_t rank) const {
    return total_gpus_[static_cast<std::size_t>(rank)] & ~node.failed[static_cast<std::size_t>(rank)];
  }
  /// True when the job holds GPUs that failed.
  bool lost_gpus(std::int32_t job_index) const;
  /// True when some job does.
  bool any_lost_gpus() const { return !broken_nodes_.empty(); }
  /// Nodes with GPUs that are held and do not work, ascending.
  std::span<const std::int32_t> broken_nodes() const { return broken_nodes_; }
  /// Jobs that hold such GPUs, by job rank. O(jobs on these nodes). @param found  is cleared first
  void list_jobs_that_lost_gpus(std::vector<std::int32_t>& found) const;
  /// True when some job has options of several shapes.
  bool any_several_shapes() const { return several_shapes_ > 0; }
  /// True when some job states how long it waits for a level.
  bool any_longest_wait() const { return longest_waits_ > 0; }
  /// What a running job holds in the form of a plan; of the revision of problem().
  std::span<const PlanEntry> held_entries(std::int32_t job_index) const { return entries_.of(job_index); }

  /// Memory ran out during a change: only destruction and loading are allowed.
  bool lost = false;
  void check_whole() const;  ///< @throws StateLost

  /// Identifies the state as long as it is remembered: addresses and versions can repeat, this cannot.
  std::shared_ptr<const int> identity = std::make_shared<const int>(0);

  // Descriptions.
  std::uint64_t revision = 0;
  TimeUs now = 0;
  std::string name, origin_iso;
  Extensions x;
  std::vector<GpuType> gpu_types;
  std::vector<Domain> domains;
  std::vector<Node> nodes;    // by rank
  std::vector<Queue> queues;  // parents before children
  std::vector<Reservation> reservations;
  std::vector<FinishedJob> history;
  std::uint64_t history_version = 0;  // grows by 1 with each job that is added or taken back, by far more at a load
  std::vector<JobRecord> jobs;        // by job index; some point into loaded_jobs_
  std::vector<std::int32_t> free_indices;
  std::vector<std::int32_t> job_order;  // job indices by (submit, id)
  std::vector<std::int64_t> job_label;  // by job index: ascends in `job_order`, and stays while jobs come and go; -1: none
  /// By job index: position in `job_order`, -1: none.
  const std::vector<std::int32_t>& job_rank() const;
  std::unordered_map<std::string, std::int32_t> node_rank, index_of_job, queue_index, type_index;

  // Compiled.
  core::Topologies topologies;
  core::FilterTable filters;
  mutable core::DemandTable demands;  // adding a row changes no answer
  NodeStore node;
  JobStore job;
  std::vector<std::int32_t> queue_parent;
  std::vector<std::int64_t> queue_cap, queue_used, type_memory;
  std::vector<std::int64_t> queue_kept;  // empty: no queue keeps anything
  std::vector<TypeSize> type_size;

 private:
  friend class Applier;
  static constexpr std::int32_t kForgetFrom = 4096;
  core::FilterTable::Cluster filter_cluster() const;
  void load(Snapshot snapshot, const std::string& source);
  /// Nodes are then held by no job, until `hold` or `hold_again` of each.
  /// @returns whether jobs compile to the same options as before, and have the same rates on nodes that are as before
  bool rebuild_nodes();
  /// Nodes have other ranks. What running jobs hold stays on the same nodes, but for `others`, which are held anew.
  /// @param rank_before  of each id
  void hold_again(const std::unordered_map<std::string, std::int32_t>& rank_before, std::span<const std::int32_t> others);
  void rebuild_reservations();
  void rebuild_queues();
  /// A queue gets other quotas and the old ones are returned in `queue`. Its id and parent are the same. O(queues); where queues lend, also
  /// O(jobs)
  void swap_quotas(std::size_t index, Queue& queue);
  void read_quotas();
  void refresh_node(std::int32_t rank);
  /// Adds or removes the instants at which a node comes or goes.
  void note_instants(std::int32_t rank);
  void forget_instants(std::int32_t rank);
  /// The same for the instants at which the next step of a job's deadline counts.
  void note_steps(std::int32_t job_index);
  void forget_steps(std::int32_t job_index);
  /// Refreshes the nodes that come or go in (low, high].
  void refresh_nodes_between(TimeUs low, TimeUs high);
  /// Refreshes the deadlines of jobs of which a step is in (low, high].
  void refresh_deadlines_between(TimeUs low, TimeUs high);
  void compile_job(std::int32_t job_index);
  void store_columns(std::int32_t job_index);
  void hold(std::int32_t job_index);
  /// Counts a row of what a job holds on its node, for `refresh_node`.
  void occupy(std::int32_t job_index, const kernel::HeldRow& row);
  void release(std::int32_t job_index);
  /// Adds (sign 1) or subtracts (-1) what a running job holds of its quotas.
  void charge_queues(std::int32_t job_index, int sign);
  void charge_idle_queues();
  void settle(std::int32_t job_index);
  void rank_jobs();
  void insert_job(std::size_t place, std::int32_t job_index);
  void label_all();
  void view_cluster() const;
  void view_demands() const;
  void update_rows() const;
  void touch_job(std::int32_t job_index);
  void change_rows(std::int32_t job_index);
  /// The rows of the view are written again, none is read before.
  void change_all_rows();
  /// More changes than these are not listed: everything is built again.
  std::size_t most_changes() const { return 4096 + 2 * jobs.size(); }
  void forget_old_demands();
  std::int32_t take_index();

  std::vector<Job> loaded_jobs_;
  std::vector<std::int32_t> broken_nodes_;
  std::vector<std::vector<std::int32_t>> jobs_on_;  // [nodes] running jobs, one for each row that they hold there
  std::vector<std::vector<std::int32_t>> node_reservations_;
  std::set<std::pair<TimeUs, std::int32_t>> node_instants_;  // (instant, rank): of nodes that come or go, later than 0
  std::set<std::pair<TimeUs, std::int32_t>> step_instants_;  // (instant, job index): of deadlines that fall in steps, without the last
  core::ChangeLog log_;
  std::vector<std::int32_t> new_jobs_, removed_jobs_;  // not yet in `job_order`; still there
  mutable std::vector<std::int32_t> job_rank_;
  mutable bool ranks_stale_ = true;
  std::int32_t forget_from_ = kForgetFrom;  // number of rows of demands or filters at which those of jobs that left are dropped
  std::uint64_t structure_ = 0, options_version_ = 1, job_versions_ = 0;
  std::uint64_t tables_ = 0;
  std::int64_t several_shapes_ = 0;  // number of jobs
  std::int64_t longest_waits_ = 0;   // number of jobs
  void set_rates_hash(JobRecord& record, std::uint64_t hash);
  void clear_options(JobRecord& record);
  std::vector<std::uint64_t> total_gpus_;  // all GPUs that exist
  std::vector<std::int64_t> total_cpu_, total_memory_;
  std::vector<std::uint8_t> total_sharing_;
  mutable std::unique_ptr<core::ClusterFacts> facts_;  // null: to be built again
  mutable std::uint64_t facts_version_ = 0;
  mutable std::vector<std::int32_t> changed_jobs_, changed_nodes_;  // since the last use of `facts_`
  mutable bool order_changed_ = false, ranks_changed_ = false, reservations_changed_ = false,
               quotas_changed_ = false;  // since then; ranks of nodes
  mutable kernel::ProblemView view_{};
  mutable bool view_stale_ = true;
  mutable core::JobRows<kernel::OptionRow> options_;
  mutable core::JobRows<kernel::HeldRow> held_;
  mutable core::JobRows<PlanEntry> entries_;
  mutable std::vector<std::int32_t> changed_rows_;  // job indices, since `view_` was last built; with repeats
  mutable bool all_rows_changed_ = true;            // `changed_rows_` lists none
};

}  // namespace berth
