#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/kernel/base/bump_allocator.hpp"
#include "berth/kernel/place/flat.hpp"
#include "berth/kernel/place/releases.hpp"
#include "berth/kernel/place/timeline.hpp"

/// The memory of one scheduling pass, allocated in one block. The caller provides `place_workspace_bytes`; nothing else is allocated.
namespace berth::kernel {

/// GPUs and shares of all nodes: no demand has more members placed at once. Host only.
inline std::int64_t most_pieces(const ProblemView& p) {
  // An entry has at least one member, and a GPU or a share of its own.
  std::int64_t smallest_share = kWholeGpu;
  for (std::int32_t d = 0; d < p.n_demands; ++d) {
    for (std::int32_t g = p.demands[d].group_begin; g < p.demands[d].group_end; ++g) {
      const std::int64_t share = p.groups[g].share_ppm > 1 ? p.groups[g].share_ppm : 1;
      if (share < smallest_share) smallest_share = share;
    }
  }
  std::int64_t pieces = 0;
  for (std::int32_t n = 0; n < p.n_nodes; ++n) {
    const std::int64_t gpus = p.gpu_begin[n + 1] - p.gpu_begin[n];
    pieces += p.node_sharing[n] != 0 ? gpus * (kWholeGpu / smallest_share) : gpus;
  }
  return pieces;
}

/// Entries of job j in any of its options. A gang may have far more members than there are `pieces`. Host only.
inline std::int64_t entries_of_job(const ProblemView& p, std::int32_t j, std::int64_t pieces) {
  std::int64_t most = 0;
  for (std::int32_t o = p.option_begin[j]; o < p.option_end[j]; ++o) {
    const DemandRow& demand = p.demands[p.options[o].demand];
    std::int64_t members = 0;
    for (std::int32_t g = demand.group_begin; g < demand.group_end; ++g) members += p.groups[g].members;
    if (members > most) most = members;
  }
  return most < pieces ? most : pieces;
}

/// Entries of all jobs, each in its largest option. Host only.
inline std::int64_t job_entries(const ProblemView& p) {
  const std::int64_t pieces = most_pieces(p);
  std::int64_t entries = 0;
  for (std::int32_t j = 0; j < p.n_jobs; ++j) entries += entries_of_job(p, j, pieces);
  return entries;
}

/// Whether jobs may be placed by FlatSteps: nodes have no end, and the tightest node comes first.
BERTH_HD inline bool has_flat_steps(const ProblemView& p, const PlaceRequest& r) {
  const bool by_rank = r.packing == Packing::kCount || r.packing == Packing::kEmptiest;
  return p.has_until == 0 && !by_rank && r.discipline != Discipline::kConservative;
}

struct PlaceWorkspace {
  PassState now, later;  // `later`: with the reservation of EASY, or a window of the timeline
  Scratch scratch;
  std::int32_t* before;       // [n + 1] linked list of victims by position
  std::int32_t* after;        // [n + 1]
  std::int32_t* victim_node;  // [n] node with all that it holds; kNone: several nodes
  std::int32_t* victim_gpus;  // [n] GPUs that may become free when it leaves: an upper bound that counts shared GPUs as whole
  std::int64_t* victim_held;  // [n] held_quota
  std::int32_t* listed;       // [n] victims for the current job
  std::int32_t* count;        // [1] number of them that are released: from one thread to all
  std::uint8_t* displaced;    // [n]
  std::uint8_t* gone;         // [n_jobs] the same by index of the job
  // Of these two the second half is the same for what leaves alone the reservation of EASY.
  std::int32_t* known;        // [2 * n_demands] round in which it did not fit in the free GPUs; a round ends when more become free
  std::int32_t* infeasible;   // [2 * n_demands] 1: did not fit with all victims released
  std::int32_t* latest;       // [n_demands] no victim behind this position holds a node that the demand allows; n: not known
  std::int64_t* later_gpus;   // [n_types] GPUs of later victims: an upper bound
  std::int64_t* later_queue;  // [n_queues * (n_types + 1)] quota used by later victims, none of it kept: an upper bound
  ReleaseEvent* events;       // [n_releases + n]
  std::int32_t* n_events;     // [1]
  std::int64_t* cpu_left;     // [n_nodes] of reserved nodes, at the start of the reservation and after it
  std::int64_t* memory_left;  // [n_nodes]
  std::uint64_t* reserved;    // [n_nodes] GPUs of the reservation of EASY, once there is one
  std::uint8_t* returned;     // [n_jobs] 1: has given back all that it holds before that begins
  FlatDemand* flat;           // [n_demands] where has_flat_steps
  TimelineSpace timeline;     // conservative
};

namespace detail {

inline std::int32_t most_gpus_per_node(const ProblemView& p) {
  std::int32_t most = 0;
  for (std::int32_t n = 0; n < p.n_nodes; ++n) {
    const std::int32_t gpus = p.gpu_begin[n + 1] - p.gpu_begin[n];
    if (gpus > most) most = gpus;
  }
  return most;
}

inline PassState carve_state(BumpAllocator& c, const ProblemView& p, std::int32_t max_gpus, std::int64_t gpus) {
  PassState s{};
  s.max_gpus = max_gpus;
  s.used_ppm = c.take<std::int32_t>(gpus);
  s.used_memory = c.take<std::int64_t>(gpus);
  for_each_column(p, max_gpus, TakeColumns{c}, s);
  return s;
}

inline Scratch carve_scratch(BumpAllocator& c, const ProblemView& p) {
  Scratch scratch{};
  const std::int64_t wide = p.domains.n_domains > p.n_nodes ? p.domains.n_domains : p.n_nodes;
  scratch.domain_cap = c.take<std::int32_t>(p.domains.n_domains);
  scratch.domain_raw = c.take<std::int32_t>(p.domains.n_domains);
  scratch.node_cap = c.take<std::int32_t>(p.n_nodes);
  scratch.node_raw = c.take<std::int32_t>(p.n_nodes);
  scratch.spread_count = c.take<std::int32_t>(wide);
  scratch.units = c.take<std::int32_t>(wide);
  scratch.raws = c.take<std::int32_t>(wide);
  return scratch;
}

inline TimelineSpace carve_timeline(BumpAllocator& c, const ProblemView& p, const PlaceRequest& r) {
  TimelineSpace s{};
  const std::int64_t events = r.n_releases + std::int64_t{2} * r.n;
  s.points = c.take<TimelinePoint>(1 + events);
  s.gpus = c.take<std::int64_t>((1 + events) * p.n_types);
  s.charges = c.take<QueueCharge>(events);
  s.changes = c.take<NodeChange>(p.n_held + r.n_releases + 2 * job_entries(p));
  s.first_change = c.take<std::int32_t>(p.n_nodes);
  s.cursor = c.take<NodeCursor>(p.n_nodes);
  s.node_shares = c.take<std::uint8_t>(p.n_nodes);
  s.node_mark = c.take<std::int32_t>(p.n_nodes);
  s.queue_then = c.take<std::int64_t>(std::int64_t{p.n_queues} * (p.n_types + 1));
  s.shared_ppm = c.take<std::int32_t>(64);
  s.shared_memory = c.take<std::int64_t>(64);
  s.memo = c.take<TimelineMemo>(std::int64_t{p.n_filters} * kTimelineMemos);
  s.answer = c.take<std::int32_t>(1);
  return s;
}

inline PlaceWorkspace carve(BumpAllocator& c, const ProblemView& p, const PlaceRequest& r) {
  PlaceWorkspace ws{};
  const std::int32_t max_gpus = most_gpus_per_node(p);
  const std::int64_t gpus = p.n_nodes > 0 ? p.gpu_begin[p.n_nodes] : 0;
  const bool easy = r.discipline == Discipline::kEasy;
  const bool ahead = plans_ahead(r.discipline);
  ws.now = carve_state(c, p, max_gpus, gpus);
  if (ahead) ws.later = carve_state(c, p, max_gpus, gpus);
  ws.scratch = carve_scratch(c, p);
  ws.before = c.take<std::int32_t>(std::int64_t{r.n} + 1);
  ws.after = c.take<std::int32_t>(std::int64_t{r.n} + 1);
  const std::int64_t victims = r.preemptive != 0 ? r.n : 0;
  ws.victim_node = c.take<std::int32_t>(victims);
  ws.victim_gpus = c.take<std::int32_t>(victims);
  ws.victim_held = c.take<std::int64_t>(victims);
  ws.listed = c.take<std::int32_t>(victims);
  ws.count = c.take<std::int32_t>(1);
  ws.displaced = c.take<std::uint8_t>(r.n);
  ws.gone = c.take<std::uint8_t>(p.n_jobs);
  ws.known = c.take<std::int32_t>(std::int64_t{2} * p.n_demands);
  ws.infeasible = c.take<std::int32_t>(std::int64_t{2} * p.n_demands);
  ws.latest = c.take<std::int32_t>(r.preemptive != 0 ? p.n_demands : 0);
  ws.later_gpus = c.take<std::int64_t>(p.n_types);
  ws.later_queue = c.take<std::int64_t>(std::int64_t{p.n_queues} * (p.n_types + 1));
  ws.events = c.take<ReleaseEvent>(ahead ? std::int64_t{r.n_releases} + r.n : 0);
  ws.n_events = c.take<std::int32_t>(1);
  ws.cpu_left = c.take<std::int64_t>(easy ? p.n_nodes : 0);
  ws.memory_left = c.take<std::int64_t>(easy ? p.n_nodes : 0);
  ws.reserved = c.take<std::uint64_t>(easy ? p.n_nodes : 0);
  ws.returned = c.take<std::uint8_t>(easy ? p.n_jobs : 0);
  ws.flat = c.take<FlatDemand>(has_flat_steps(p, r) ? p.n_demands : 0);
  if (r.discipline == Discipline::kConservative) ws.timeline = carve_timeline(c, p, r);
  return ws;
}

}  // namespace detail

/// Bytes that one scheduling pass needs; the block is aligned to 16. Host only.
inline std::size_t place_workspace_bytes(const ProblemView& p, const PlaceRequest& r) {
  BumpAllocator counter{nullptr};
  detail::carve(counter, p, r);
  return counter.used;
}

/// Host only: reads the problem on the host; the block may be device memory.
inline PlaceWorkspace carve_workspace(void* block, const ProblemView& p, const PlaceRequest& r) {
  BumpAllocator allocator{static_cast<std::byte*>(block)};
  return detail::carve(allocator, p, r);
}

template <class Group, class T>
BERTH_HD void copy_column(Group& group, const T* from, T* to, std::int64_t n) {
  for (std::int64_t i = group.rank(); i < n; i += group.size()) to[i] = from[i];
}

/// Copies one state into another of the same problem. All threads.
template <class Group>
BERTH_HD void copy_state(Group& group, const ProblemView& p, const PassState& from, PassState& to) {
  const auto copy = [&](std::int64_t n, const auto* source, auto* target) { copy_column(group, source, target, n); };
  for_each_column(p, from.max_gpus, copy, from, to);
  copy(p.gpu_begin[p.n_nodes], from.used_ppm, to.used_ppm);
  copy(p.gpu_begin[p.n_nodes], from.used_memory, to.used_memory);
  group.sync();
}

/// Adds (sign 1) or subtracts (-1) the running job at position i from the sums over later victims. One thread.
BERTH_HD inline void count_victim(const ProblemView& p, const PlaceRequest& r, const PlaceWorkspace& ws, std::int32_t i,
                                  std::int32_t sign) {
  const std::int32_t job = r.order[i];
  if (p.held_type[job] >= 0) ws.later_gpus[p.held_type[job]] += sign * ws.victim_gpus[i];
  if (p.held_type[job] < 0) return;
  const QueueColumns sums{p.queue_parent, p.queue_cap, nullptr, ws.later_queue, p.n_types};
  charge_queues(sums, p.job_queue[job], p.held_type[job], sign * ws.victim_held[i]);
}

/// Caches the properties of a victim that the pass reads repeatedly. One thread.
BERTH_HD inline void describe_victim(const ProblemView& p, const PlaceRequest& r, const PlaceWorkspace& ws, std::int32_t i) {
  const std::int32_t job = r.order[i];
  std::int32_t node = kNone, gpus = 0;
  bool one_node = true;
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    const HeldRow& row = p.held[h];
    one_node = one_node && (node == kNone || node == row.node);
    node = row.node;
    gpus += popcount(row.mask);
  }
  ws.victim_node[i] = one_node ? node : kNone;
  ws.victim_gpus[i] = gpus;
  ws.victim_held[i] = held_quota(p, job);
}

/// The state before the first job. All threads.
template <class Group>
BERTH_HD void init_workspace(Group& group, const ProblemView& p, const PlaceRequest& r, const TakenRow* taken, std::int32_t n_taken,
                             const PlaceWorkspace& ws) {
  PassState s = ws.now;
  const std::int64_t gpus = p.gpu_begin[p.n_nodes];
  copy_column(group, p.node_free, s.free, p.n_nodes);
  copy_column(group, p.node_cpu, s.cpu, p.n_nodes);
  copy_column(group, p.node_memory, s.memory, p.n_nodes);
  copy_column(group, p.gpu_used_ppm, s.used_ppm, gpus);
  copy_column(group, p.gpu_used_memory, s.used_memory, gpus);
  copy_column(group, p.queue_used, s.queue_used, std::int64_t{p.n_queues} * (p.n_types + 1));
  for (std::int32_t i = group.rank(); i < p.n_demands; i += group.size()) {
    ws.known[i] = ws.known[p.n_demands + i] = ws.infeasible[i] = ws.infeasible[p.n_demands + i] = 0;
    if (r.preemptive != 0) ws.latest[i] = r.n;
  }
  for (std::int32_t i = group.rank(); i < p.n_demands && has_flat_steps(p, r); i += group.size()) {
    const DemandRow& d = p.demands[i];
    ws.flat[i] = {kNone, d.gpu_type, 0, 0, 0, 0, 0, kNone, d.quota};
    if (d.exact != 0) {
      const GroupRow& row = p.groups[d.group_begin];
      ws.flat[i] = flat_demand(p, d.filter, d.gpu_type, row, row.members, d.quota, s.max_gpus);
    }
  }
  for (std::int32_t i = group.rank(); i < r.n; i += group.size()) ws.displaced[i] = 0;
  for (std::int32_t j = group.rank(); j < p.n_jobs; j += group.size()) ws.gone[j] = 0;
  for (std::int32_t t = group.rank(); t < p.n_types; t += group.size()) ws.later_gpus[t] = 0;
  for (std::int64_t q = group.rank(); q < std::int64_t{p.n_queues} * (p.n_types + 1); q += group.size()) ws.later_queue[q] = 0;
  group.sync();
  if (group.rank() == 0) {
    for (std::int32_t t = 0; t < n_taken; ++t) s.free[taken[t].node] &= ~taken[t].mask;
    std::int32_t last = kNone;
    constexpr std::int32_t kAhead = 16;
    for (std::int32_t i = 0; i < r.n && r.preemptive != 0; ++i) {
      if (i + kAhead < r.n) BERTH_PREFETCH(p.held + p.held_begin[r.order[i + kAhead]]);
      if (r.running[i] == 0 || r.victim_ok[i] == 0) continue;
      ws.before[i] = last;
      if (last >= 0) ws.after[last] = i;
      last = i;
      describe_victim(p, r, ws, i);
      count_victim(p, r, ws, i, 1);
    }
    ws.before[r.n] = last;
    if (last >= 0) ws.after[last] = r.n;
  }
  group.sync();
  build_index(group, p, s);
}

/// Events for a reservation made at position i: releases of jobs that are not displaced, and jobs placed earlier. One thread.
BERTH_HD inline std::int32_t collect_events(const ProblemView& p, const PlaceRequest& r, const PlaceResult& result,
                                            const PlaceWorkspace& ws, std::int32_t i) {
  std::int32_t n = 0;
  for (std::int32_t k = 0; k < r.n_releases; ++k) {
    const ReleaseRow& release = r.releases[k];
    if (release.at == kNever) continue;
    if (release.job >= 0 && ws.gone[release.job] != 0) continue;
    ws.events[n++] = {release.at, release.job, release.node, kNone, release.job >= 0 ? r.job_rank[release.job] : kNone, release.mask};
  }
  for (std::int32_t q = 0; q < i; ++q) {
    if (result.outcome[q] != Outcome::kPlaced && result.outcome[q] != Outcome::kMoved) continue;
    const std::int32_t job = r.order[q];
    const TimeUs run = r.option_run[p.option_begin[job] + result.option[q]];
    if (run == kNever || run > kNever - 1 - r.now) continue;
    ws.events[n++] = {r.now + run, job, kNone, q, r.job_rank[job], 0};
  }
  // Heap sort: in place, and never quadratic.
  const auto sift = [&](std::int32_t root, std::int32_t end) {
    for (;;) {
      std::int32_t child = 2 * root + 1;
      if (child >= end) return;
      if (child + 1 < end && ws.events[child] < ws.events[child + 1]) ++child;
      if (!(ws.events[root] < ws.events[child])) return;
      const ReleaseEvent swapped = ws.events[root];
      ws.events[root] = ws.events[child];
      ws.events[child] = swapped;
      root = child;
    }
  };
  for (std::int32_t k = n / 2 - 1; k >= 0; --k) sift(k, n);
  for (std::int32_t k = n - 1; k > 0; --k) {
    const ReleaseEvent swapped = ws.events[0];
    ws.events[0] = ws.events[k];
    ws.events[k] = swapped;
    sift(0, k);
  }
  return n;
}

}  // namespace berth::kernel
