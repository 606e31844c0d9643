#pragma once

#include <cstdint>

#include "berth/kernel/base/columns.hpp"
#include "berth/kernel/base/host_device.hpp"

#include "berth/units.hpp"

/// The state compiled to dense integer columns: the whole input of the kernels. Brackets give the length of a column.
/// Ranks are dense, so results do not depend on the order of rows in a file.
namespace berth::kernel {

inline constexpr std::int64_t kNoLimit = INT64_MAX;  // "not modelled" for cores and memory
inline constexpr std::int32_t kNone = -1;

/// The tree of one topology. Level 0 is the node, `levels - 1` the whole cluster; the named levels are between, from leaf to root.
/// A node without a domain at some level has an unnamed domain of its own there, or shares one with the nodes of the nearest named
/// domain below. An unnamed domain counts for packing and spreading but never satisfies `require`.
struct TopologyView {
  std::int32_t levels;                       // 2..kMaxLevels
  std::int32_t ranked;                       // 1: positions are ranks, which is always so in the switch topology
  const std::int32_t* order;                 // [n_nodes] node rank at each position; a domain is a range of positions
  const std::int32_t* node_domain;           // [levels * n_nodes] domain of (level, node); row 0 is unused
  std::int32_t level_begin[kMaxLevels + 1];  // domains of level l: [level_begin[l], level_begin[l+1]), l >= 1
};

/// Domains of all topologies and levels >= 1, each level sorted by path. Children of level 1 are nodes.
struct DomainView {
  std::int32_t n_domains;
  const std::int32_t* first;  // [n_domains] positions [first, last) in the topology's order
  const std::int32_t* last;
  const std::int32_t* child_first;  // [n_domains] domains [child_first, child_last) one level below;
  const std::int32_t* child_last;   //             0, 0 at level 1
  const std::int32_t* parent;       // [n_domains] domain one level above, kNone for the cluster
  const std::uint8_t* named;        // [n_domains] 1: satisfies `require`
};

/// One group of a gang's tree: a row of a demand, in depth-first order (parents first).
struct GroupRow {
  std::int32_t members;       // members to place, spares included; 0: only has child groups
  std::int32_t gpus;          // per member, all on one node; 1 for a share
  std::int32_t share_ppm;     // kWholeGpu, or a smaller share
  std::int32_t subtree_end;   // index one past the last descendant, relative to the demand's first row
  std::int64_t cpu;           // milli-cores per member
  std::int64_t memory;        // bytes per member
  std::int64_t gpu_memory;    // bytes per GPU (only for shares)
  std::int32_t segment_size;  // 0: none; divides `members`
  std::int32_t segment_topology, segment_level;
  std::int32_t require_topology, require_level;  // level kNone: none
  std::int32_t prefer_topology, prefer_level;    // level kNone: none
  std::int32_t spread_most;                      // 0: none
  std::int32_t spread_topology, spread_level;
  std::int64_t subtree_gpus;  // GPUs of this row and all its descendants (shares count 0)
};

/// The demand of one option of a job. Equal demands of different jobs are one row.
struct DemandRow {
  std::int32_t group_begin, group_end;  // rows of `groups`
  std::int32_t filter;                  // row of `filter_words`
  std::int32_t gpu_type;
  std::int64_t gpus;   // total of whole GPUs
  std::int64_t quota;  // charged to quotas: millionths of a GPU, shares included
  std::int32_t exact;  // 1: one flat group without both segment and spread, so that "does not fit" is monotone
};

/// One option of a job, in the order in which options are tried (least GPU-time first).
struct OptionRow {
  std::int32_t demand;
  std::int32_t shape;  // index in the job's shapes
};

/// GPUs of one node that a running job holds.
struct HeldRow {
  std::int32_t node;
  std::int32_t share_ppm;   // kWholeGpu, or the share of each GPU in `mask`
  std::uint64_t mask;       // GPU indices
  std::int64_t cpu;         // total of milli-cores
  std::int64_t memory;      // total of bytes
  std::int64_t gpu_memory;  // bytes per GPU, for shares
};

struct ProblemView {
  // Nodes by rank (domain path in the switch topology, id).
  std::int32_t n_nodes, n_words;        // n_words = ceil(n_nodes / 64)
  const std::int32_t* node_type;        // [n_nodes]
  const std::uint64_t* node_free;       // [n_nodes] whole free GPUs of open nodes (ready and available now)
  const std::uint64_t* node_open;       // [n_nodes] healthy GPUs of open nodes: they may become free when a job leaves
  const std::uint64_t* node_spare;      // [n_nodes] whole free GPUs of spare nodes, only for gang repair
  const std::int64_t* node_cpu;         // [n_nodes] free milli-cores, kNoLimit: not modelled
  const std::int64_t* node_memory;      // [n_nodes] free bytes, kNoLimit: not modelled
  const std::int64_t* node_until;       // [n_nodes] a job must end by then; kNever: no end
  const std::uint8_t* node_sharing;     // [n_nodes] 1: open and may host shares
  const std::int32_t* inner_begin;      // [n_nodes + 1] ranges of `inner_mask`
  const std::uint64_t* inner_mask;      // GPUs of each inner group, sorted by lowest index
  const std::int32_t* gpu_begin;        // [n_nodes + 1] first row of each node in the GPU columns
  const std::int32_t* gpu_used_ppm;     // share of each GPU in use; GPUs in whole use are not counted here
  const std::int64_t* gpu_used_memory;  // bytes of GPU memory in use by shares
  std::int32_t has_until;               // 1: some node_until is finite

  std::int32_t n_types;
  const std::int64_t* type_memory;  // [n_types] bytes per GPU, 0: not known

  TopologyView topology[5];
  DomainView domains;

  // Demands of the jobs.
  std::int32_t n_filters;
  const std::uint64_t* filter_words;  // [n_filters * n_words] bit = the node is allowed
  std::int32_t n_demands;
  const DemandRow* demands;  // [n_demands]
  const GroupRow* groups;
  // Rows of a job are [option_begin[job], option_end[job]). Jobs stand in any order, with unused rows between them.
  std::int32_t n_jobs;               // indices of jobs; some may be unused
  std::int32_t n_options;            // rows of `options`, used or not
  const std::int32_t* option_begin;  // [n_jobs]
  const std::int32_t* option_end;    // [n_jobs]
  const OptionRow* options;          // [n_options]
  const std::int32_t* job_queue;     // [n_jobs] kNone: none

  // Queues; parents come before children.
  std::int32_t n_queues;
  const std::int32_t* queue_parent;  // [n_queues] kNone: root
  const std::int64_t* queue_cap;     // [n_queues * (n_types + 1)] millionths of a GPU; last column: all types; kNoLimit
  const std::int64_t* queue_kept;    // same shape: what the queue keeps of its parent's while it is idle; null: no queue keeps anything
  const std::int64_t* queue_used;    // same shape: charged for running jobs of the queue, and of each child for the greater of what
                                     // it is charged and what it keeps

  // Running jobs. Rows of a job are [held_begin[job], held_end[job]), in any order of jobs as above.
  std::int32_t n_held;             // rows of `held`, used or not
  const std::int32_t* held_begin;  // [n_jobs]
  const std::int32_t* held_end;    // [n_jobs]
  const HeldRow* held;             // [n_held]
  const std::int32_t* held_type;   // [n_jobs] type of the GPUs held, kNone
};

/// Options that stand one after another in the order of the jobs. @param begin  [n_jobs + 1]
inline void set_options(ProblemView& p, const std::int32_t* begin, const OptionRow* options) {
  p.n_options = begin[p.n_jobs];
  p.option_begin = begin;
  p.option_end = begin + 1;
  p.options = options;
}

/// The same for what jobs hold.
inline void set_held(ProblemView& p, const std::int32_t* begin, const HeldRow* held) {
  p.n_held = begin[p.n_jobs];
  p.held_begin = begin;
  p.held_end = begin + 1;
  p.held = held;
}

enum class Discipline : std::int32_t { kStrict, kGreedy, kEasy, kConservative };
/// Whether jobs get reservations, which depend on when jobs end.
BERTH_HD inline bool plans_ahead(Discipline d) { return d == Discipline::kEasy || d == Discipline::kConservative; }

/// The option `packing` (docs/placement.md). `kConsolidate` is `kTopology` for demands that the host split into whole nodes and a rest.
/// `kContention` is `kTopology` too: the host narrows demands of gangs that wait for a domain.
enum class Packing : std::int32_t { kTopology, kCount, kConsolidate, kEmptiest, kContention };

/// GPUs that a scenario removes before the scheduling pass; bits that are not free are ignored.
struct TakenRow {
  std::int32_t node;
  std::uint64_t mask;
};

/// GPUs that become free later: those of a running job, or GPUs that are being released.
struct ReleaseRow {
  TimeUs at;
  std::int32_t job;   // index of the job, or kNone
  std::int32_t node;  // when job is kNone
  std::uint64_t mask;
};

/// One scheduling pass over jobs in a given order.
struct PlaceRequest {
  TimeUs now;
  std::int32_t n;                        // number of jobs in the order
  const std::int32_t* order;             // [n] indices of jobs, most important first, without repeats
  const std::uint8_t* running;           // [n] 1: holds GPUs now
  const std::uint8_t* victim_ok;         // [n] 1: jobs before it may displace it
  const std::int32_t* preemption_class;  // [n_jobs by index]; read only with class_rule
  const std::int32_t*
      job_rank;              // [n_jobs by index] order of jobs that end at the same instant, without repeats; read only where `plans_ahead`
  const TimeUs* option_run;  // [options] predicted run time of each option, kNever: not known
  const std::uint8_t* may_displace;  // [options] 1: jobs may be displaced for it; null: for all options. Read only where `preemptive`
  std::int32_t n_releases;
  const ReleaseRow* releases;  // [n_releases] read only where `plans_ahead`
  Discipline discipline;
  Packing packing;
  std::int32_t preemptive;  // 1: waiting jobs may displace later running ones
  std::int32_t class_rule;  // 1: victims must have a smaller preemption class
  std::int32_t max_tries;   // maximum of domains tried per group of a tree
  std::int32_t limit;       // positions from here on are not tried; n: all are tried
};

enum class Outcome : std::int32_t {
  kWaits,      // did not fit, with or without displacing victims
  kBehind,     // strict: not tried, because an earlier job waits
  kBudget,     // not tried: at or after `limit`
  kQuota,      // a queue on the path to the root is full
  kPlaced,     // was waiting, starts
  kKept,       // was running, stays
  kMoved,      // was running, displaced, starts elsewhere
  kPreempted,  // was running, displaced
  kReserved,   // easy: the first blocked job, conservative: every one; starts at `reserve_at`
  kGaveUp,     // as kWaits, but tries ran out: whether it fits is not known
};

/// GPUs of one node given to members of one group.
struct PlacedRow {
  std::int32_t node;
  std::int32_t group;   // relative to the first row of the demand
  std::int32_t member;  // first member of the entry within its group
  std::int32_t members;
  std::uint64_t mask;  // whole GPUs; for shares: the one GPU
  std::int32_t share_ppm;
  std::int32_t pad;
};

/// Output columns; the caller provides them.
struct PlaceResult {
  Outcome* outcome;            // [n]
  std::int32_t* option;        // [n] row of `options` relative to the job's first, kNone
  std::int32_t* entry_begin;   // [n] rows of `entries` of a job that was placed, moved or reserved
  std::int32_t* entry_end;     // [n]
  std::int32_t* displaced_by;  // [n] position of the job that displaced this one, kNone
  PlacedRow* entries;          // [max_entries]
  std::int32_t max_entries;    // one entry per GPU and one per share member suffice: see entry_bound()
  std::int32_t* n_entries;     // [1]
  TimeUs* reserve_at;          // [n] start of a reserved job, kNever: none
};

// for_each_column: see columns.hpp. Sizes that stand in columns are read from `p`.

template <class Visit, ViewOf<ProblemView>... Views>
void for_each_column(const ProblemView& p, Visit&& visit, Views&... views) {
  const std::int64_t nodes = p.n_nodes, jobs = p.n_jobs, domains = p.domains.n_domains;
  const std::int64_t quotas = std::int64_t{p.n_queues} * (p.n_types + 1);
  const std::int64_t gpus = p.gpu_begin == nullptr ? 0 : p.gpu_begin[nodes];
  std::int64_t groups = 0;
  for (std::int32_t d = 0; d < p.n_demands; ++d) groups = p.demands[d].group_end > groups ? p.demands[d].group_end : groups;
  visit(nodes, views.node_type...);
  visit(nodes, views.node_free...);
  visit(nodes, views.node_open...);
  visit(nodes, views.node_spare...);
  visit(nodes, views.node_cpu...);
  visit(nodes, views.node_memory...);
  visit(nodes, views.node_until...);
  visit(nodes, views.node_sharing...);
  visit(nodes + 1, views.inner_begin...);
  visit(p.inner_begin == nullptr ? 0 : std::int64_t{p.inner_begin[nodes]}, views.inner_mask...);
  visit(nodes + 1, views.gpu_begin...);
  visit(gpus, views.gpu_used_ppm...);
  visit(gpus, views.gpu_used_memory...);
  visit(std::int64_t{p.n_types}, views.type_memory...);
  for (int t = 0; t < 5; ++t) {
    visit(nodes, views.topology[t].order...);
    visit(p.topology[t].levels * nodes, views.topology[t].node_domain...);
  }
  visit(domains, views.domains.first...);
  visit(domains, views.domains.last...);
  visit(domains, views.domains.child_first...);
  visit(domains, views.domains.child_last...);
  visit(domains, views.domains.parent...);
  visit(domains, views.domains.named...);
  visit(std::int64_t{p.n_filters} * p.n_words, views.filter_words...);
  visit(std::int64_t{p.n_demands}, views.demands...);
  visit(groups, views.groups...);
  visit(jobs, views.option_begin...);
  visit(jobs, views.option_end...);
  visit(std::int64_t{p.n_options}, views.options...);
  visit(jobs, views.job_queue...);
  visit(std::int64_t{p.n_queues}, views.queue_parent...);
  visit(quotas, views.queue_cap...);
  visit(p.queue_kept == nullptr ? 0 : quotas, views.queue_kept...);
  visit(quotas, views.queue_used...);
  visit(jobs, views.held_begin...);
  visit(jobs, views.held_end...);
  visit(std::int64_t{p.n_held}, views.held...);
  visit(jobs, views.held_type...);
}
static_assert(sizeof(ProblemView) == 664, "ProblemView changed: list its new columns above, then change this number");

/// `r` is the request whose sizes count. Columns that its rules do not read have none.
template <class Visit, ViewOf<PlaceRequest>... Views>
void for_each_column(const ProblemView& p, const PlaceRequest& r, Visit&& visit, Views&... views) {
  const bool ahead = plans_ahead(r.discipline);
  const std::int64_t jobs = p.n_jobs, n = r.n;
  visit(n, views.order...);
  visit(n, views.running...);
  visit(n, views.victim_ok...);
  visit(r.class_rule != 0 ? jobs : 0, views.preemption_class...);
  visit(ahead ? jobs : 0, views.job_rank...);
  visit(std::int64_t{p.n_options}, views.option_run...);
  visit(r.preemptive != 0 && r.may_displace != nullptr ? std::int64_t{p.n_options} : 0, views.may_displace...);
  visit(ahead ? std::int64_t{r.n_releases} : 0, views.releases...);
}
static_assert(sizeof(PlaceRequest) == 112, "PlaceRequest changed: list its new columns above, then change this number");

/// All but `entries`, of which only the first `n_entries` are set.
template <class Visit, ViewOf<PlaceResult>... Views>
void for_each_column(const PlaceRequest& r, Visit&& visit, Views&... views) {
  const std::int64_t n = r.n, one = 1;
  visit(n, views.outcome...);
  visit(n, views.option...);
  visit(n, views.entry_begin...);
  visit(n, views.entry_end...);
  visit(n, views.displaced_by...);
  visit(one, views.n_entries...);
  visit(n, views.reserve_at...);
}
static_assert(sizeof(PlaceResult) == 72, "PlaceResult changed: list its new columns above, then change this number");

}  // namespace berth::kernel
