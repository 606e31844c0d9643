#pragma once

#include <cstdint>

#include "berth/kernel/place/node_set.hpp"
#include "berth/kernel/place/state.hpp"

namespace berth::kernel {

/// Memory of one scheduling pass besides problem and result, allocated by workspace.hpp.
struct Scratch {
  std::int32_t* domain_cap;    // [n_domains] remaining capacity of the children of a domain that is being filled; -1: taken
  std::int32_t* domain_raw;    // [n_domains]
  std::int32_t* node_cap;      // [n_nodes] as domain_cap, for nodes
  std::int32_t* node_raw;      // [n_nodes]
  std::int32_t* spread_count;  // [max(n_domains, n_nodes)] members in each spread domain (segment and spread together)
  std::int32_t* units;         // [max(n_domains, n_nodes)] remaining capacity of segment or spread domains
  std::int32_t* raws;          // [max(n_domains, n_nodes)]
};

/// State shared by the steps of a scheduling pass. Each thread has its own copy with the same values.
template <class Group>
struct Pass {
  Group& group;
  const ProblemView& p;
  PassState s;  // the state that placement reads and charges
  Scratch scratch;
  PlacedRow* entries;
  std::int32_t n_entries;  // the same in all threads
  bool ran_out;            // some group of the current job ran out of tries
  std::int32_t max_tries;
  Packing packing;
  const std::int32_t* counted_level;  // counted_level_of this thread
};

/// The level that thread `rank` of a group of `size` counts; null: none.
BERTH_HD inline const std::int32_t* counted_level_of(const ProblemView& p, std::int32_t rank, std::int32_t size) {
  const std::int32_t* own = nullptr;
  if (size < kMostCountedLevels) return own;
  std::int32_t at = 0;
  for_each_counted_level(p, [&](const std::int32_t* domain) { own = at++ == rank ? domain : own; });
  return own;
}

/// count_in_domains by all threads, one for each level, or by the first if the group is narrow. Barriers are the caller's.
template <class Group>
BERTH_HD void count_together(Group& group, const ProblemView& p, const PassState& s, const std::int32_t* counted_level, std::int32_t node,
                             std::int32_t gpus) {
  if (group.size() < kMostCountedLevels) {
    if (group.rank() == 0) count_in_domains(p, s, node, gpus);
  } else if (counted_level != nullptr) {
    s.domain_free[counted_level[node]] += gpus;
  }
}

/// A group row of the demand being placed, as the placement functions see it.
struct GroupDemand {
  const GroupRow* row;
  std::int32_t index;   // index of the row in its demand
  std::int32_t member;  // members placed so far
};

/// What is taken from one node.
struct NodeTake {
  std::int32_t type, gpus;
  std::int64_t cpu, memory;
};

BERTH_HD inline NodeTake take_of(const GroupRow& row, std::int32_t type, std::int32_t members) {
  return {type, members * row.gpus, members * row.cpu, members * row.memory};
}

/// Chooses GPUs of a node, and takes them, cores and memory. The node's bucket and the sums are left as they are. One thread.
/// @param mask  gets the GPUs.  @returns the free GPUs of the node before
BERTH_HD inline std::int32_t take_gpus(const ProblemView& p, const PassState& s, std::int32_t node, const NodeTake& take,
                                       std::uint64_t& mask) {
  const std::uint64_t free = s.free[node];
  mask = pick_gpus(p, node, free, take.gpus);
  s.free[node] = free & ~mask;
  if (take.cpu > 0 && s.cpu[node] != kNoLimit) s.cpu[node] -= take.cpu;
  if (take.memory > 0 && s.memory[node] != kNoLimit) s.memory[node] -= take.memory;
  return popcount(free);
}

/// Takes whole GPUs of one node. `entry` becomes `placed` with its GPUs. All threads call it; the barriers before and after are the
/// caller's.
template <class Group>
BERTH_HD void take_whole(Group& group, const ProblemView& p, const PassState& s, const std::int32_t* counted_level, const NodeTake& take,
                         const PlacedRow& placed, PlacedRow& entry) {
  if (group.rank() == 0) {
    PlacedRow row = placed;
    const std::int32_t before = take_gpus(p, s, placed.node, take, row.mask);
    entry = row;
    move_to_bucket(p, s, placed.node, before, before - take.gpus);
    s.type_free[take.type] -= take.gpus;
  }
  count_together(group, p, s, counted_level, placed.node, -take.gpus);
}

/// Takes the whole GPUs of entries [from, w.n_entries), which are on different nodes. They get their masks.
template <class Group>
BERTH_HD void charge_entries(Pass<Group>& w, const GroupRow& row, std::int32_t from) {
  w.group.sync();
  for (std::int32_t e = from + w.group.rank(); e < w.n_entries; e += w.group.size()) {
    PlacedRow& entry = w.entries[e];
    take_gpus(w.p, w.s, entry.node, take_of(row, kNone, entry.members), entry.mask);
  }
  w.group.sync();
  for (std::int32_t e = from; e < w.n_entries; ++e) {
    const std::int32_t node = w.entries[e].node;
    const std::int32_t gpus = w.entries[e].members * row.gpus;
    if (w.group.rank() == 0) {
      const std::int32_t after = popcount(w.s.free[node]);
      move_to_bucket(w.p, w.s, node, after + gpus, after);
      w.s.type_free[w.p.node_type[node]] -= gpus;
    }
    count_together(w.group, w.p, w.s, w.counted_level, node, -gpus);
  }
  w.group.sync();
}

/// Releases entries [to, w.n_entries) of a demand, newest first.
template <class Group>
BERTH_HD void undo_entries(Pass<Group>& w, const GroupRow* rows, std::int32_t to) {
  w.group.sync();
  if (w.group.rank() == 0) {
    for (std::int32_t e = w.n_entries - 1; e >= to; --e) {
      const PlacedRow& entry = w.entries[e];
      const GroupRow& row = rows[entry.group];
      give_mask(w.p, w.s, entry.node, entry.mask, ~std::uint64_t{0}, row.share_ppm, row.gpu_memory, entry.members * row.cpu,
                entry.members * row.memory);
    }
  }
  w.n_entries = to;
  w.group.sync();
}

/// The GPU of a node for the next member with a share: the shared GPU with least room, else the lowest free one.
BERTH_HD inline std::int32_t pick_shared(const ProblemView& p, const PassState& s, const GroupRow& row, std::int32_t node) {
  std::int32_t best = kNone;
  std::int64_t room = INT64_MAX;
  std::int32_t whole = kNone;
  const std::int32_t gpus = p.gpu_begin[node + 1] - p.gpu_begin[node];
  for (std::int32_t g = 0; g < gpus; ++g) {
    const std::int64_t cap = gpu_share_cap(p, s, row, node, g);
    if (cap < 1) continue;
    if (s.used_ppm[p.gpu_begin[node] + g] == 0) {
      if (whole == kNone) whole = g;
    } else if (cap < room) {
      best = g;
      room = cap;
    }
  }
  return best != kNone ? best : whole;
}

/// Assigns t members of the demand to one node. All threads have met since they last read the state.
template <class Group>
BERTH_HD void take_node(Pass<Group>& w, GroupDemand& demand, std::int32_t node, std::int32_t t) {
  const GroupRow& row = *demand.row;
  if (t < 1) return;
  const std::int32_t from = w.n_entries;
  if (row.share_ppm == kWholeGpu) {
    const PlacedRow placed{node, demand.index, demand.member, t, 0, kWholeGpu, 0};
    take_whole(w.group, w.p, w.s, w.counted_level, take_of(row, w.p.node_type[node], t), placed, w.entries[from]);
    w.n_entries = from + 1;
    w.group.sync();
  } else {
    w.group.sync();
    if (w.group.rank() == 0) {
      for (std::int32_t i = 0; i < t; ++i) {
        const std::int32_t g = pick_shared(w.p, w.s, row, node);
        w.entries[from + i] = {node, demand.index, demand.member + i, 1, std::uint64_t{1} << g, row.share_ppm, 0};
        take_mask(w.p, w.s, node, std::uint64_t{1} << g, row.share_ppm, row.gpu_memory, row.cpu, row.memory);
      }
    }
    w.n_entries = from + t;
    w.group.sync();
  }
  demand.member += t;
}

}  // namespace berth::kernel
