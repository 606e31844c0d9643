#pragma once

#include <cstdint>

#include "berth/kernel/place/group.hpp"

/// Trees of groups: docs/placement.md section 5. A small explicit stack replaces the recursion described there.
namespace berth::kernel {

/// A group with children, whose candidates are tried one after another. Each thread has eight of them on its stack, so sets of nodes are
/// made again where they are needed: see candidate_of.
struct TreeFrame {
  std::int32_t row;   // relative to the first row of the demand
  std::int32_t from;  // entries before this visit
  std::int32_t tries;
  std::int32_t stage;       // 0: find the next R; 1: preferred domains in it; 2: R itself; 3: exhausted
  std::int32_t level;       // of the preferred domains being tried
  Key required, preferred;  // last candidates tried, by (free GPUs, id)
};
static_assert(sizeof(TreeFrame) <= 64, "all frames of a thread are to stay within 512 bytes");

/// The domain of (topology, level) that follows `after` by (free GPUs in the set, id), with at least `need` GPUs.
template <class Group>
BERTH_HD Key next_domain(Pass<Group>& w, const NodeSet& set, std::int32_t topology, std::int32_t level, bool named_only, std::int64_t need,
                         Key after, bool first) {
  const ProblemView& p = w.p;
  Key best = kNoKey;
  if (level == 0) {
    // Nodes outside the set have no free GPUs in it, but count when none are needed.
    for (std::int32_t n = w.group.rank(); n < p.n_nodes; n += w.group.size()) {
      const std::int64_t free = contains(p, set, n) ? popcount(w.s.free[n]) : 0;
      const Key key{static_cast<std::uint64_t>(free), static_cast<std::uint32_t>(n)};
      if (free >= need && (first || after < key) && key < best) best = key;
    }
    return w.group.min(best);
  }
  const TopologyView& f = p.topology[topology];
  const DomainRange range =
      need > 0 ? domains_meeting(p, set, topology, level) : DomainRange{f.level_begin[level], f.level_begin[level + 1]};
  // A tree calls this for each group and try, so domains that are ranges of ranks are counted without building sets.
  const bool by_ranks = f.ranked != 0 && set.scan == 0 && all_in_range(p, set);
  for (std::int32_t d = range.first + w.group.rank(); d < range.last; d += w.group.size()) {
    if (named_only && p.domains.named[d] == 0 && level != f.levels - 1) continue;
    if (free_in(p, w.s, topology, level, d) < need) continue;
    std::int64_t free = 0;
    if (by_ranks) {
      const std::int32_t from = p.domains.first[d] > set.first ? p.domains.first[d] : set.first;
      const std::int32_t to = p.domains.last[d] < set.last ? p.domains.last[d] : set.last;
      const bool whole = from == p.domains.first[d] && to == p.domains.last[d];
      if (whole && !first && free_in(p, w.s, topology, level, d) < static_cast<std::int64_t>(after.hi)) continue;
      free = whole && none_kept_out(p, w.s, set.filter, from, to) ? free_in(p, w.s, topology, level, d)
                                                                  : free_gpus_between(p, w.s, set.filter, from, to);
    } else {
      free = free_gpus_of(p, w.s, within(p, set, topology, level, d));
    }
    const Key key{static_cast<std::uint64_t>(free), static_cast<std::uint32_t>(d)};
    if (free >= need && (first || after < key) && key < best) best = key;
  }
  return w.group.min(best);
}

/// The intersection of a set and one node, which is a domain of level 0.
BERTH_HD inline NodeSet on_node(const ProblemView& p, NodeSet set, std::int32_t node) {
  const bool inside = contains(p, set, node);
  // Any topology's order is correct; in the switch topology positions are ranks.
  set.scan = 0;
  set.node = inside ? node : kNoNode;
  set.first = node;
  set.last = inside ? node + 1 : node;
  return set;
}

/// A' of docs/placement.md section 5: the set A of a frame and the R that it has found.
BERTH_HD inline NodeSet required_part(const ProblemView& p, const TreeFrame& f, const GroupRow& row, const NodeSet& around) {
  if (!has_require(row)) return around;
  const auto domain = static_cast<std::int32_t>(f.required.lo);
  return row.require_level == 0 ? on_node(p, around, domain) : within(p, around, row.require_topology, row.require_level, domain);
}

/// The candidate that next_candidate found last, in the set A of the frame.
BERTH_HD inline NodeSet candidate_of(const ProblemView& p, const TreeFrame& f, const GroupRow& row, const NodeSet& around) {
  const NodeSet part = required_part(p, f, row, around);
  return f.stage != 1 ? part : within(p, part, row.prefer_topology, f.level, static_cast<std::int32_t>(f.preferred.lo));
}

/// Moves a frame to its next candidate in its set A. @returns false when there is none.
template <class Group>
BERTH_HD bool next_candidate(Pass<Group>& w, TreeFrame& f, const GroupRow& row, const NodeSet& around) {
  const ProblemView& p = w.p;
  for (;;) {
    if (f.stage == 0) {
      if (!has_require(row)) {
        if (f.level != 0) {
          f.stage = 3;
          continue;
        }
      } else {
        const bool first = f.level == 0 && f.required == kNoKey;
        const Key r = next_domain(w, around, row.require_topology, row.require_level, true, row.subtree_gpus, f.required, first);
        if (r == kNoKey) {
          f.stage = 3;
          continue;
        }
        f.required = r;
      }
      f.stage = 1;
      f.level = 1;
      f.preferred = kNoKey;
    } else if (f.stage == 1) {
      if (row.prefer_level < f.level) {
        f.stage = 2;
        continue;
      }
      const Key d = next_domain(w, required_part(p, f, row, around), row.prefer_topology, f.level, false, row.subtree_gpus, f.preferred,
                                f.preferred == kNoKey);
      if (d == kNoKey) {
        ++f.level;
        f.preferred = kNoKey;
        continue;
      }
      f.preferred = d;
      return true;
    } else if (f.stage == 2) {
      f.stage = 0;
      if (free_gpus_of(p, w.s, required_part(p, f, row, around)) < row.subtree_gpus) continue;
      return true;
    } else {
      return false;
    }
  }
}

inline constexpr std::int32_t kMaxTreeDepth = 8;

/// Places a demand in the nodes of its filter, for a job that ends at `end` (kNever: not known). On failure nothing is allocated.
template <class Group>
BERTH_HD bool place_demand(Pass<Group>& w, const DemandRow& demand, TimeUs end) {
  const GroupRow* rows = w.p.groups + demand.group_begin;
  const std::int32_t n = demand.group_end - demand.group_begin;
  const NodeSet everywhere = all_nodes(w.p, demand.filter, end);
  const std::int32_t start = w.n_entries;
  if (n == 1) {
    return place_group(w, rows, 0, rows[0], everywhere);
  }
  TreeFrame frames[kMaxTreeDepth];
  std::int32_t depth = 0;
  // The candidate of the innermost of `open` groups.
  const auto inside = [&](std::int32_t open) {
    NodeSet set = everywhere;
    for (std::int32_t k = 0; k < open; ++k) set = candidate_of(w.p, frames[k], rows[frames[k].row], set);
    return set;
  };
  NodeSet set = everywhere;  // inside(depth)
  std::int32_t i = 0;
  bool ok = true;
  while (i < n || !ok) {
    if (ok) {
      bool placed = false;
      for (; depth > 0 && i >= rows[frames[depth - 1].row].subtree_end; placed = true) --depth;
      if (placed) set = inside(depth);
      if (rows[i].subtree_end == i + 1) {
        ok = place_group(w, rows, i, rows[i], set);
        ++i;
        continue;
      }
      frames[depth++] = {i, w.n_entries, 0, 0, 0, kNoKey, kNoKey};
      ok = false;  // the step below finds the first candidate
    }
    // The innermost open group advances to its next candidate.
    if (depth == 0) break;
    TreeFrame& f = frames[depth - 1];
    GroupRow own = rows[f.row];
    undo_entries(w, rows, f.from);
    const NodeSet around = inside(depth - 1);
    const bool more = next_candidate(w, f, own, around);
    if (!more || f.tries == w.max_tries) {
      if (more) w.ran_out = true;
      --depth;
      continue;  // fails: the enclosing group advances
    }
    ++f.tries;
    set = candidate_of(w.p, f, own, around);
    own.require_level = own.prefer_level = kNone;
    if (!place_group(w, rows, f.row, own, set)) continue;
    ok = true;
    i = f.row + 1;
  }
  if (ok) return true;
  undo_entries(w, rows, start);
  return false;
}

}  // namespace berth::kernel
