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
};

/// A group row of the demand being placed, as the placement functions see it.
struct GroupDemand {
  const GroupRow* row;
  std::int32_t index;   // index of the row in its demand
  std::int32_t member;  // members placed so far
};

/// Charges entries [from, w.n_entries) to the state; entries of whole GPUs get their masks. One thread works, the others wait.
template <class Group>
BERTH_HD void charge_entries(Pass<Group>& w, const GroupRow& row, std::int32_t from) {
  w.group.sync();
  if (w.group.rank() == 0) {
    for (std::int32_t e = from; e < w.n_entries; ++e) {
      PlacedRow& entry = w.entries[e];
      if (row.share_ppm == kWholeGpu) entry.mask = pick_gpus(w.p, entry.node, w.s.free[entry.node], entry.members * row.gpus);
      take_mask(w.p, w.s, entry.node, entry.mask, row.share_ppm, row.gpu_memory, entry.members * row.cpu, entry.members * row.memory);
    }
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

/// Assigns t members of the demand to one node.
template <class Group>
BERTH_HD void take_node(Pass<Group>& w, GroupDemand& demand, std::int32_t node, std::int32_t t) {
  const GroupRow& row = *demand.row;
  if (t < 1) return;
  const std::int32_t from = w.n_entries;
  if (row.share_ppm == kWholeGpu) {
    if (w.group.rank() == 0) w.entries[from] = {node, demand.index, demand.member, t, 0, kWholeGpu, 0};
    w.n_entries = from + 1;
    charge_entries(w, row, from);
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
