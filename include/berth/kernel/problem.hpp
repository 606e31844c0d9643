#pragma once

#include <cstdint>

#include "berth/units.hpp"

/// The state compiled to dense integer columns: all that decision bodies see. Every pointer is a
/// column whose length stands in brackets; ranks are dense, so the order of rows in a file is gone.
namespace berth::kernel {

inline constexpr std::int64_t kNoLimit = INT64_MAX;  // "not modelled" for cores and memory
inline constexpr std::int32_t kNone = -1;

/// The tree of one facet. Level 0 is the node itself, `levels - 1` the whole cluster; in between the
/// named levels from leaf to root. A node that names no domain at some level belongs to an unnamed
/// domain there: it counts for packing and spreading and never satisfies `require`.
struct FacetView {
  std::int32_t levels;                       // 2..kMaxLevels
  std::int32_t ranked;                       // 1: positions are ranks, as in the switch facet always
  const std::int32_t* order;                 // [n_nodes] node rank at each position; a domain is a range of positions
  const std::int32_t* node_domain;           // [levels * n_nodes] domain of (level, node); row 0 is not used
  std::int32_t level_begin[kMaxLevels + 1];  // domains of level l: [level_begin[l], level_begin[l+1]), l >= 1
};

/// Domains of all facets and levels >= 1, each level sorted by path. Children of level 1 are nodes.
struct DomainView {
  std::int32_t n_domains;
  const std::int32_t* first;  // [n_domains] positions [first, last) in the facet's order
  const std::int32_t* last;
  const std::int32_t* child_first;  // [n_domains] domains [child_first, child_last) one level below;
  const std::int32_t* child_last;   //             0, 0 at level 1
  const std::int32_t* parent;       // [n_domains] domain one level above, kNone for the cluster
  const std::uint8_t* named;        // [n_domains] 1: satisfies `require`
};

/// One group of a gang's tree: a row of a demand, in depth-first order (parents first).
struct GroupRow {
  std::int32_t members;       // to place, spares included; 0: only holds children
  std::int32_t gpus;          // per member, all on one node; 1 for a share
  std::int32_t share_ppm;     // kWholeGpu, or below it
  std::int32_t subtree_end;   // index one past the last descendant, relative to the demand's first row
  std::int64_t cpu;           // milli-cores per member
  std::int64_t memory;        // bytes per member
  std::int64_t gpu_memory;    // bytes per GPU (counts only for shares)
  std::int32_t segment_size;  // 0: none; divides `members`
  std::int32_t segment_facet, segment_level;
  std::int32_t require_facet, require_level;  // level kNone: none
  std::int32_t prefer_facet, prefer_level;    // level kNone: none
  std::int32_t spread_most;                   // 0: none
  std::int32_t spread_facet, spread_level;
  std::int64_t subtree_gpus;  // GPUs of this row and all descendants (shares count 0)
};

/// What one alternative of a job needs; equal demands of different jobs are one row.
struct DemandRow {
  std::int32_t group_begin, group_end;  // rows of `groups`
  std::int32_t filter;                  // row of `filter_words`
  std::int32_t gpu_type;
  std::int64_t gpus;   // whole GPUs in all
  std::int64_t quota;  // what it takes of quotas: millionths of a GPU, shares included
  std::int32_t exact;  // 1: one flat group without both segment and spread, so "does not fit" is monotone
};

/// One alternative of a job, in the order in which it is tried (least GPU-time first).
struct OptionRow {
  std::int32_t demand;
  std::int32_t shape;  // index in the job's shapes
};

/// GPUs of one node held by a running job.
struct HeldRow {
  std::int32_t node;
  std::int32_t share_ppm;   // kWholeGpu, or what is held of each GPU in `mask`
  std::uint64_t mask;       // GPU indices
  std::int64_t cpu;         // milli-cores in all
  std::int64_t memory;      // bytes in all
  std::int64_t gpu_memory;  // bytes per GPU, for shares
};

struct ProblemView {
  // Nodes by rank (domain path in the switch facet, id).
  std::int32_t n_nodes, n_words;        // n_words = ceil(n_nodes / 64)
  const std::int32_t* node_type;        // [n_nodes]
  const std::uint64_t* node_free;       // [n_nodes] whole free GPUs of open nodes (ready and available now)
  const std::uint64_t* node_open;       // [n_nodes] GPUs of open nodes that work: what may become free when a job leaves
  const std::uint64_t* node_spare;      // [n_nodes] whole free GPUs of spare nodes, only for `replace`
  const std::int64_t* node_cpu;         // [n_nodes] free milli-cores, kNoLimit: not modelled
  const std::int64_t* node_memory;      // [n_nodes] free bytes, kNoLimit: not modelled
  const std::int64_t* node_until;       // [n_nodes] a job must end by then, kNever: open end
  const std::uint8_t* node_sharing;     // [n_nodes] 1: open and may host shares
  const std::int32_t* inner_begin;      // [n_nodes + 1] ranges of `inner_mask`
  const std::uint64_t* inner_mask;      // GPUs of each inner group, sorted by lowest index
  const std::int32_t* gpu_begin;        // [n_nodes + 1] first row of each node in the GPU columns
  const std::int32_t* gpu_used_ppm;     // share of each GPU in use; whole use is not counted here
  const std::int64_t* gpu_used_memory;  // bytes of GPU memory in use by shares
  std::int32_t has_until;               // 1: some node_until is finite

  std::int32_t n_types;
  const std::int64_t* type_memory;  // [n_types] bytes per GPU, 0: not known

  FacetView facet[5];
  DomainView domains;

  // What jobs ask for.
  std::int32_t n_filters;
  const std::uint64_t* filter_words;  // [n_filters * n_words] bit = node may be used
  std::int32_t n_demands;
  const DemandRow* demands;  // [n_demands]
  const GroupRow* groups;
  std::int32_t n_jobs;               // job slots; some may be empty
  const std::int32_t* option_begin;  // [n_jobs + 1]
  const OptionRow* options;
  const std::int32_t* job_queue;  // [n_jobs] kNone: none

  // Queues; parents stand before children.
  std::int32_t n_queues;
  const std::int32_t* queue_parent;  // [n_queues] kNone: root
  const std::int64_t* queue_cap;     // [n_queues * (n_types + 1)] millionths of a GPU; last column: all types; kNoLimit
  const std::int64_t* queue_used;    // same shape: held by running jobs of the queue and below

  // Running jobs.
  const std::int32_t* held_begin;  // [n_jobs + 1]
  const HeldRow* held;
  const std::int32_t* held_type;  // [n_jobs] GPU type held, kNone
};

enum class Discipline : std::int32_t { kHol, kSkip, kEasy };
enum class Packing : std::int32_t { kTopology, kCount };

/// GPUs that a scenario takes away from the problem before the walk; bits that are not free are ignored.
struct TakenRow {
  std::int32_t node;
  std::uint64_t mask;
};

/// Something that becomes free later: a running job's GPUs, or GPUs that are being released.
struct ReleaseRow {
  TimeUs at;
  std::int32_t job;   // slot, or kNone
  std::int32_t node;  // when job is kNone
  std::uint64_t mask;
};

/// One walk over jobs in a given order.
struct PlaceRequest {
  TimeUs now;
  std::int32_t n;                        // jobs in the order
  const std::int32_t* order;             // [n] job slots, most important first, no repeats
  const std::uint8_t* running;           // [n] 1: holds GPUs now
  const std::uint8_t* victim_ok;         // [n] 1: may be displaced by jobs before it
  const std::int32_t* preemption_class;  // [n_jobs by slot]; read only when class_rule
  const std::int32_t* job_rank;          // [n_jobs by slot] orders what ends at one instant, without repeats; read only by kEasy
  const TimeUs* option_run;              // [options] predicted run time of each option, kNever: not known
  std::int32_t n_releases;
  const ReleaseRow* releases;  // [n_releases] read only by kEasy
  Discipline discipline;
  Packing packing;
  std::int32_t preemptive;  // 1: waiting jobs may displace later running ones
  std::int32_t class_rule;  // 1: only victims of a smaller preemption class
  std::int32_t max_tries;   // domains tried per group of a tree before giving up
  std::int32_t limit;       // positions at or after it are not tried; n: all are
};

enum class Outcome : std::int32_t {
  kWaits,      // did not fit, with or without victims
  kBehind,     // hol: not tried, because of an earlier job
  kBudget,     // not tried: at or after `limit`
  kQuota,      // a queue on the path to the root is full
  kPlaced,     // was waiting, starts
  kKept,       // was running, stays
  kMoved,      // was running, displaced, starts elsewhere
  kPreempted,  // was running, displaced
  kReserved,   // easy: the first blocked job; starts at `reserve_at`
  kGaveUp,     // as kWaits, and tries ran out: whether it fits is not known
};

/// GPUs of one node given to members of one group.
struct PlacedRow {
  std::int32_t node;
  std::int32_t group;   // row relative to the demand's first
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
  std::int32_t* entry_begin;   // [n] rows of `entries` of a placed, moved or reserved job
  std::int32_t* entry_end;     // [n]
  std::int32_t* displaced_by;  // [n] position of the job that displaced it, kNone
  PlacedRow* entries;          // [max_entries]
  std::int32_t max_entries;    // see entry_bound(): one per GPU and one per share member suffice
  std::int32_t* n_entries;     // [1]
  TimeUs* reserve_at;          // [1] start of the reserved job, kNever: none
};

}  // namespace berth::kernel
