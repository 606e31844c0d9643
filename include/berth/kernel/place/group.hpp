#pragma once

#include <cstdint>

#include "berth/kernel/place/fill.hpp"
#include "berth/kernel/place/flat.hpp"

/// One group in a set of nodes: docs/placement.md section 2.
namespace berth::kernel {

/// A domain d of (topology, level), intersected with a domain of the row's require level where the row has one.
struct Spot {
  Key key = kNoKey;              // (cap, raw) and (R, d); at level 0 (raw, node)
  std::int32_t topology, level;  // of d

  BERTH_HD std::int32_t domain() const { return static_cast<std::int32_t>(key.lo & 0xffffffffu); }
  BERTH_HD std::int32_t required() const { return static_cast<std::int32_t>(key.lo >> 32); }
};

BERTH_HD inline bool names_require(const ProblemView& p, const GroupRow& row, std::int32_t domain) {
  return row.require_level == p.topology[row.require_topology].levels - 1 || p.domains.named[domain] != 0;
}

/// The best node that holds all members.
template <class Group>
BERTH_HD Key best_node(Pass<Group>& w, const GroupRow& row, const NodeSet& set, std::int32_t members) {
  if (row.spread_most > 0 && members > row.spread_most) return kNoKey;
  const ProblemView& p = w.p;
  const auto fits = [&](std::int32_t node) {
    return contains(p, set, node) && meets_require(p, row, node) && node_cap(p, w.s, row, node) >= members;
  };
  const std::int64_t gpus = std::int64_t{members} * row.gpus;
  if (row.share_ppm != kWholeGpu || set.scan != 0 || set.last - set.first < 256) {
    Key best = kNoKey;
    for (std::int32_t i = set.first + w.group.rank(); i < set.last; i += w.group.size()) {
      const std::int32_t node = p.topology[set.scan].order[i];
      if (row.share_ppm == kWholeGpu && popcount(w.s.free[node]) < gpus) continue;
      if (!fits(node)) continue;
      const std::int64_t raw = node_raw(w.s, row, node, node_cap(p, w.s, row, node));
      const Key key{static_cast<std::uint64_t>(raw), static_cast<std::uint32_t>(node)};
      if (key < best) best = key;
    }
    return w.group.min(best);
  }
  const std::uint64_t* filter = p.filter_words + std::int64_t{set.filter} * p.n_words;
  for (std::int64_t c = gpus; c <= w.s.max_gpus; ++c) {
    if (w.s.bucket_count[c] == 0) continue;
    const std::uint64_t* bucket = w.s.bucket + c * p.n_words;
    for (std::int32_t base = set.first / 64; base * 64 < set.last; base += w.group.size()) {
      const std::int32_t word = base + w.group.rank();
      Key best = kNoKey;
      std::uint64_t bits = word < p.n_words ? bucket[word] & filter[word] : 0;
      for (; bits != 0; bits &= bits - 1) {
        const std::int32_t node = word * 64 + lowest(bits);
        if (!fits(node)) continue;
        best = {static_cast<std::uint64_t>(c), static_cast<std::uint32_t>(node)};
        break;
      }
      best = w.group.min(best);
      if (!(best == kNoKey)) return best;
    }
  }
  return kNoKey;
}

/// Whether the number of free GPUs alone excludes a domain.
template <class Group>
BERTH_HD bool too_few(const Pass<Group>& w, const GroupRow& row, std::int32_t topology, std::int32_t level, std::int32_t d,
                      std::int32_t members) {
  return row.share_ppm == kWholeGpu && free_in(w.p, w.s, topology, level, d) < std::int64_t{members} * row.gpus;
}

BERTH_HD inline Key spot_key(const GroupRow& row, const Measure& m, std::int32_t required, std::int32_t d, std::int32_t members) {
  const std::int64_t cap = cap_of(row, m);
  return cap < members ? kNoKey : Key{pack(cap, m.raw), pack(required, d)};
}

/// Candidates R and d of different topologies that intersect: each R of the set with each d that has nodes in it.
template <class Group>
BERTH_HD Key best_crossing(Pass<Group>& w, const GroupRow& row, const NodeSet& set, std::int32_t topology, std::int32_t level,
                           std::int32_t members) {
  const ProblemView& p = w.p;
  Key best = kNoKey;
  const DomainRange all = domains_meeting(p, set, row.require_topology, row.require_level);
  for (std::int32_t r = all.first + w.group.rank(); r < all.last; r += w.group.size()) {
    if (!names_require(p, row, r) || too_few(w, row, row.require_topology, row.require_level, r, members)) continue;
    const NodeSet inside = within(p, set, row.require_topology, row.require_level, r);
    const auto consider = [&](std::int32_t d) {
      if (too_few(w, row, topology, level, d, members)) return;
      const Key key = spot_key(row, measure_for(p, w.s, row, within(p, inside, topology, level, d), members), r, d, members);
      if (key < best) best = key;
    };
    const std::int32_t* column = p.topology[topology].node_domain + std::int64_t{level} * p.n_nodes;
    const std::int32_t* order = p.topology[inside.scan].order;
    if (inside.scan != topology && inside.last - inside.first <= kFewNodes) {
      for (std::int32_t i = inside.first; i < inside.last; ++i) {
        bool seen = false;
        for (std::int32_t k = inside.first; k < i && !seen; ++k) seen = column[order[k]] == column[order[i]];
        if (!seen) consider(column[order[i]]);
      }
    } else {
      const DomainRange range = domains_meeting(p, inside, topology, level);
      for (std::int32_t d = range.first; d < range.last; ++d) consider(d);
    }
  }
  return w.group.min(best);
}

/// The best candidate of one level >= 1.
template <class Group>
BERTH_HD Key best_domain(Pass<Group>& w, const GroupRow& row, const NodeSet& set, std::int32_t topology, std::int32_t level,
                         std::int32_t members) {
  const ProblemView& p = w.p;
  const bool require = row.require_level >= 1;
  if (require && row.require_topology != topology) return best_crossing(w, row, set, topology, level, members);
  // Within one topology the tighter of the two levels gives the candidates, and the other level follows.
  const bool by_require = require && row.require_level < level;
  const std::int32_t scanned = by_require ? row.require_level : level;
  const DomainRange range = domains_meeting(p, set, topology, scanned);
  const bool together = range.last - range.first < w.group.size();
  // This test excludes most domains of a busy cluster, so it comes first and is cheap.
  const bool by_gpus = row.share_ppm == kWholeGpu && scanned < p.topology[topology].levels - 1;
  const std::int64_t gpus = by_gpus ? std::int64_t{members} * row.gpus : 0;
  const bool by_ranks = !together && by_gpus && row.segment_size == 0 && row.spread_most == 0;
  Key best = kNoKey;
  for (std::int32_t c = range.first + (together ? 0 : w.group.rank()); c < range.last; c += together ? 1 : w.group.size()) {
    if (by_gpus && w.s.domain_free[c] < gpus) continue;
    const std::int32_t d = by_require ? ancestor(p, c, level - scanned) : c;
    const std::int32_t r = !require ? 0 : by_require ? c : ancestor(p, c, row.require_level - level);
    if (require && !names_require(p, row, r)) continue;
    if (by_ranks) {
      const Key key = spot_key(row, measure_child(p, w.s, row, set, topology, scanned, c), r, d, members);
      if (key < best) best = key;
      continue;
    }
    const NodeSet inside = within(p, set, topology, scanned, c);
    const Measure m = together ? measure_together(w.group, p, w.s, row, inside) : measure_for(p, w.s, row, inside, members);
    const Key key = spot_key(row, m, r, d, members);
    if (key < best) best = key;
  }
  return w.group.min(best);
}

/// Tries one (topology, level) of the sequence. @returns true when all members are placed.
template <class Group>
BERTH_HD bool try_level(Pass<Group>& w, GroupDemand& demand, const NodeSet& set, std::int32_t topology, std::int32_t level,
                        std::int32_t members, const GroupRow* rows) {
  const GroupRow& row = *demand.row;
  Spot spot;
  spot.topology = topology;
  spot.level = level;
  if (level == 0) {
    if (row.share_ppm == kWholeGpu && set.n == 0 && set.node == kNone && all_in_range(w.p, set)) {  // all nodes
      const std::uint32_t node = tightest_node(w.group, w.p, w.s, flat_demand(w.p, set.filter, kNone, row, members, 0, w.s.max_gpus));
      if (node == kNoNodeFound) return false;
      take_node(w, demand, static_cast<std::int32_t>(node), members);
      return true;
    }
    spot.key = best_node(w, row, set, members);
    if (spot.key == kNoKey) return false;
    take_node(w, demand, static_cast<std::int32_t>(spot.key.lo), members);
    return true;
  }
  // When the required level is the node, level 0 has tried every node; no higher level can help.
  if (row.require_level == 0) return false;
  spot.key = best_domain(w, row, set, topology, level, members);
  if (spot.key == kNoKey) return false;
  NodeSet inside = within(w.p, set, topology, level, spot.domain());
  if (row.require_level >= 1) inside = within(w.p, inside, row.require_topology, row.require_level, spot.required());
  const std::int32_t from = w.n_entries;
  const std::int32_t member = demand.member;
  if (fill(w, demand, inside, topology, level, spot.domain(), members) == 0) return true;
  undo_entries(w, rows, from);
  demand.member = member;
  return false;
}

/// Packing::kCount: nodes by rank until all members are placed. Packing::kEmptiest: nodes with more free GPUs come first.
template <class Group>
BERTH_HD bool place_by_rank(Pass<Group>& w, GroupDemand& demand, NodeSet set, std::int32_t members, const GroupRow* rows) {
  const GroupRow& row = *demand.row;
  const ProblemView& p = w.p;
  const bool emptiest = w.packing == Packing::kEmptiest;
  const auto turn = [&](std::int64_t raw, std::int32_t where) {
    return Key{emptiest ? static_cast<std::uint64_t>(INT64_MAX - raw) : 0, static_cast<std::uint32_t>(where)};
  };
  if (row.require_level == 0) {
    Key least = kNoKey;
    for (std::int32_t n = w.group.rank(); n < p.n_nodes; n += w.group.size()) {
      const std::int64_t cap = contains(p, set, n) ? node_cap(p, w.s, row, n) : 0;
      if (cap < members) continue;
      const Key key = turn(node_raw(w.s, row, n, cap), n);
      if (key < least) least = key;
      if (!emptiest) break;
    }
    least = w.group.min(least);
    if (least == kNoKey) return false;
    take_node(w, demand, static_cast<std::int32_t>(least.lo), members);
    return true;
  }
  if (row.require_level >= 1) {
    const DomainRange range = domains_meeting(p, set, row.require_topology, row.require_level);
    Key least = kNoKey;
    for (std::int32_t r = range.first + w.group.rank(); r < range.last; r += w.group.size()) {
      if (!names_require(p, row, r) || too_few(w, row, row.require_topology, row.require_level, r, members)) continue;
      const NodeSet inside = within(p, set, row.require_topology, row.require_level, r);
      const Measure m = measure_plain(p, w.s, row, inside, 0, 1);
      if (m.plain < members) continue;
      const Key key = turn(m.raw, r);
      if (key < least) least = key;
      if (!emptiest) break;
    }
    least = w.group.min(least);
    if (least == kNoKey) return false;
    set = within(p, set, row.require_topology, row.require_level, static_cast<std::int32_t>(least.lo));
  }
  const std::int32_t from = w.n_entries;
  const std::int32_t member = demand.member;
  const std::uint64_t* filter = p.filter_words + std::int64_t{set.filter} * p.n_words;
  const bool share = row.share_ppm != kWholeGpu;
  std::int32_t left = members;
  // All nodes with free GPUs, or those of one number of free GPUs after another.
  const bool tiered = emptiest && !share;
  const std::int32_t tiers = tiered ? w.s.max_gpus - row.gpus + 1 : 1;
  const std::int32_t width = (p.n_words + w.group.size() - 1) / w.group.size() * w.group.size();
  for (std::int32_t step = 0; step < tiers * width && left > 0; step += w.group.size()) {
    const std::int32_t free_gpus = w.s.max_gpus - step / width;
    if (tiered && w.s.bucket_count[free_gpus] == 0) continue;
    const std::int32_t word = step % width + w.group.rank();
    std::uint64_t bits = word < p.n_words ? filter[word] : 0;
    if (bits != 0 && !share) bits &= tiered ? w.s.bucket[std::int64_t{free_gpus} * p.n_words + word] : ~w.s.bucket[word];
    std::int64_t cap = 0;
    for (std::uint64_t b = bits; b != 0; b &= b - 1) {
      const std::int32_t node = word * 64 + lowest(b);
      const std::int64_t c = contains(p, set, node) ? node_cap(p, w.s, row, node) : 0;
      if (c == 0) bits &= ~(b & (~b + 1));
      cap += c;
      if (cap >= left && w.group.size() == 1) break;
    }
    if (share) {
      // Members with shares pick their GPU one after another: all threads visit the nodes in order together.
      while (left > 0) {
        Key next = kNoKey;
        if (bits != 0) next = {0, static_cast<std::uint32_t>(word * 64 + lowest(bits))};
        const Key first = w.group.min(next);
        if (first == kNoKey) break;
        if (next == first) bits &= bits - 1;
        const auto node = static_cast<std::int32_t>(first.lo);
        const std::int64_t c = contains(p, set, node) ? node_cap(p, w.s, row, node) : 0;
        const std::int32_t t = c < left ? static_cast<std::int32_t>(c) : left;
        take_node(w, demand, node, t);
        left -= t;
      }
      continue;
    }
    std::int64_t total = 0;
    const std::int64_t before = w.group.scan(cap, total);
    std::int64_t mine = 0;  // entries that this thread adds
    std::int64_t room = left - before;
    for (std::uint64_t b = bits; b != 0 && room > 0; b &= b - 1) {
      room -= node_cap(p, w.s, row, word * 64 + lowest(b));
      ++mine;
    }
    std::int64_t written = 0;
    std::int64_t at = w.n_entries + w.group.scan(mine, written);
    room = left - before;
    std::int64_t first = demand.member + before;
    for (std::uint64_t b = bits; b != 0 && room > 0; b &= b - 1) {
      const std::int32_t node = word * 64 + lowest(b);
      const std::int64_t c = node_cap(p, w.s, row, node);
      const std::int64_t t = c < room ? c : room;
      w.entries[at++] = {node, demand.index, static_cast<std::int32_t>(first), static_cast<std::int32_t>(t), 0, kWholeGpu, 0};
      first += t;
      room -= t;
    }
    const std::int64_t placed = total < left ? total : left;
    w.n_entries += static_cast<std::int32_t>(written);
    demand.member += static_cast<std::int32_t>(placed);
    left -= static_cast<std::int32_t>(placed);
  }
  if (left > 0) {
    if (share) {
      undo_entries(w, rows, from);
    } else {
      w.n_entries = from;  // nothing is charged yet
    }
    demand.member = member;
    return false;
  }
  if (!share) charge_entries(w, row, from);
  return true;
}

/// Whether the set has room for the members, ignoring all other requirements of the row.
template <class Group>
BERTH_HD bool holds(Pass<Group>& w, const GroupRow& row, const NodeSet& set, std::int32_t members) {
  return w.group.sum(plain_up_to(w.p, w.s, row, set, members, w.group.rank(), w.group.size())) >= members;
}

/// Places the members of one row in a set.
/// @param rows  the first row of the demand, to release members when not all of them fit.
template <class Group>
BERTH_HD bool place_group(Pass<Group>& w, const GroupRow* rows, std::int32_t index, const GroupRow& row, const NodeSet& set) {
  GroupDemand demand{&row, index, 0};
  const std::int32_t members = row.members;
  if (members == 0) return true;
  const bool by_rank = w.packing == Packing::kCount || w.packing == Packing::kEmptiest;
  if (by_rank && row.segment_size == 0 && row.spread_most == 0) return place_by_rank(w, demand, set, members, rows);
  if (try_level(w, demand, set, 0, 0, members, rows)) return true;
  // A single member that no node holds does not fit in a domain either. No domain holds more than the whole set.
  if (members == 1 || !holds(w, row, set, members)) return false;
  for (std::int32_t l = 1; row.prefer_level >= 0 && l <= row.prefer_level; ++l) {
    if (try_level(w, demand, set, row.prefer_topology, l, members, rows)) return true;
  }
  const std::int32_t base = has_require(row) ? row.require_topology : 0;
  const std::int32_t top = has_require(row) ? row.require_level : w.p.topology[0].levels - 1;
  for (std::int32_t l = 1; l <= top; ++l) {
    if (try_level(w, demand, set, base, l, members, rows)) return true;
  }
  return false;
}

}  // namespace berth::kernel
