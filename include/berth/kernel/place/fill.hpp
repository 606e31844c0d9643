#pragma once

#include <cstdint>

#include "berth/kernel/place/pass.hpp"

/// Fills a chosen set of nodes with members: docs/placement.md section 3.
namespace berth::kernel {

BERTH_HD inline std::uint64_t pack(std::int64_t high, std::int64_t low) {
  return static_cast<std::uint64_t>(high) << 32 | static_cast<std::uint32_t>(low);
}

/// Orders children by their capacity. Those with enough come first, tightest first; then the others, greatest capacity first.
BERTH_HD inline Key offer_key(std::int64_t offer, std::int64_t raw, std::int32_t child, std::int64_t wanted) {
  if (offer <= 0) return kNoKey;
  const bool enough = offer >= wanted;
  return {pack(enough ? offer : 0x7fffffff - offer, raw) | (enough ? 0 : std::uint64_t{1} << 63), static_cast<std::uint32_t>(child)};
}

/// The children are nodes of a set. With `count`, the spread of the row limits the members per domain.
template <class Group>
BERTH_HD std::int32_t fill_nodes(Pass<Group>& w, GroupDemand& demand, const NodeSet& set, std::int32_t members, std::int32_t* count) {
  const GroupRow& row = *demand.row;
  const std::int32_t* order = w.p.topology[set.scan].order;
  for (std::int32_t i = set.first + w.group.rank(); i < set.last; i += w.group.size()) {
    const std::int32_t node = order[i];
    const bool inside = contains(w.p, set, node);
    const std::int64_t cap = inside ? node_cap(w.p, w.s, row, node) : 0;
    w.scratch.node_cap[node] = static_cast<std::int32_t>(cap);
    w.scratch.node_raw[node] = inside ? static_cast<std::int32_t>(node_raw(w.s, row, node, cap)) : 0;
  }
  w.group.sync();
  // Positions are in rank order in the switch topology and inside one lowest domain of any other topology.
  const std::int32_t* lowest = w.p.topology[set.scan].node_domain + w.p.n_nodes;
  const bool by_rank = set.scan == 0 || set.first >= set.last || lowest[order[set.first]] == lowest[order[set.last - 1]];
  const std::int32_t* spread =
      row.spread_level > 0 ? w.p.topology[row.spread_topology].node_domain + std::int64_t{row.spread_level} * w.p.n_nodes : nullptr;
  const auto room = [&](std::int32_t node) -> std::int64_t {
    const std::int64_t cap = w.scratch.node_cap[node];
    if (count == nullptr || cap <= 0) return cap;
    const std::int64_t left = row.spread_most - count[spread != nullptr ? spread[node] : node];
    return left < cap ? left : cap;
  };
  while (members > 0) {
    Key best = kNoKey;
    for (std::int32_t i = set.first + w.group.rank(); i < set.last; i += w.group.size()) {
      const std::int32_t node = order[i];
      if (room(node) <= 0) continue;
      // With spread counts the greatest capacity always comes first: see "With both" in section 3.
      const std::int64_t wanted = count != nullptr ? INT32_MAX : members;
      const Key key = offer_key(w.scratch.node_cap[node], w.scratch.node_raw[node], node, wanted);
      if (key < best) best = key;
    }
    best = w.group.min(best);
    if (best == kNoKey) return members;
    const auto first = static_cast<std::int32_t>(best.lo);
    const std::int32_t cap = w.scratch.node_cap[first];
    if (count == nullptr && cap >= members) {
      take_node(w, demand, first, members);
      return 0;
    }
    if (count != nullptr) {
      const std::int64_t can = room(first);
      const std::int32_t t = can < members ? static_cast<std::int32_t>(can) : members;
      w.group.sync();
      if (w.group.rank() == 0) {
        w.scratch.node_cap[first] = 0;
        count[spread != nullptr ? spread[first] : first] += t;
      }
      take_node(w, demand, first, t);
      members -= t;
      continue;
    }
    if (row.share_ppm != kWholeGpu || !by_rank) {
      w.group.sync();
      if (w.group.rank() == 0) w.scratch.node_cap[first] = 0;
      take_node(w, demand, first, cap);
      members -= cap;
      continue;
    }
    // Nodes equal in (capacity, free GPUs) follow each other by rank.
    // While the demand exceeds one node's capacity, they are taken in one pass.
    const std::int32_t raw = w.scratch.node_raw[first];
    const std::int64_t full = (members - 1) / cap;
    const std::int32_t from = w.n_entries;
    std::int64_t taken = 0;
    for (std::int32_t base = set.first; base < set.last && taken < full; base += w.group.size()) {
      const std::int32_t i = base + w.group.rank();
      const bool match = i < set.last && w.scratch.node_cap[order[i]] == cap && w.scratch.node_raw[order[i]] == raw;
      std::int64_t found = 0;
      const std::int64_t before = taken + w.group.scan(match ? 1 : 0, found);
      if (match && before < full) {
        w.entries[from + before] = {order[i], demand.index, demand.member + static_cast<std::int32_t>(before) * cap, cap, 0, kWholeGpu, 0};
        w.scratch.node_cap[order[i]] = 0;
      }
      taken = taken + found < full ? taken + found : full;
    }
    w.n_entries = from + static_cast<std::int32_t>(taken);
    charge_entries(w, row, from);
    demand.member += static_cast<std::int32_t>(taken) * cap;
    members -= static_cast<std::int32_t>(taken) * cap;
  }
  return 0;
}

/// The rule without segment and spread, downwards from domain d at (topology, level) of the set.
template <class Group>
BERTH_HD std::int32_t fill_plain(Pass<Group>& w, GroupDemand& demand, const NodeSet& set, std::int32_t topology, std::int32_t level,
                                 std::int32_t d, std::int32_t members, std::int32_t* count) {
  const GroupRow& row = *demand.row;
  struct Frame {
    std::int32_t domain, level, left;
    bool measured;
  };
  Frame stack[kMaxLevels];
  std::int32_t depth = 0;
  stack[0] = {d, level, members, false};
  std::int32_t missing = 0;
  while (depth >= 0) {
    Frame& frame = stack[depth];
    if (frame.level == 1) {
      missing += fill_nodes(w, demand, within(w.p, set, topology, 1, frame.domain), frame.left, count);
      --depth;
      continue;
    }
    const std::int32_t first = w.p.domains.child_first[frame.domain];
    const std::int32_t last = w.p.domains.child_last[frame.domain];
    if (!frame.measured) {
      for (std::int32_t c = first + w.group.rank(); c < last; c += w.group.size()) {
        const Measure m = measure_child(w.p, w.s, row, set, topology, frame.level - 1, c);
        w.scratch.domain_cap[c] = static_cast<std::int32_t>(m.plain);
        w.scratch.domain_raw[c] = static_cast<std::int32_t>(m.raw);
      }
      frame.measured = true;
      w.group.sync();
    }
    Key best = kNoKey;
    for (std::int32_t c = first + w.group.rank(); c < last; c += w.group.size()) {
      const Key key = offer_key(w.scratch.domain_cap[c], w.scratch.domain_raw[c], c, frame.left);
      if (key < best) best = key;
    }
    best = w.group.min(best);
    if (frame.left == 0 || best == kNoKey) {
      missing += frame.left;
      --depth;
      continue;
    }
    const auto child = static_cast<std::int32_t>(best.lo);
    const std::int32_t cap = w.scratch.domain_cap[child];
    const std::int32_t give = cap < frame.left ? cap : frame.left;
    w.group.sync();
    if (w.group.rank() == 0) w.scratch.domain_cap[child] = 0;
    frame.left -= give;
    ++depth;
    stack[depth] = {child, frame.level - 1, give, false};
    w.group.sync();
  }
  return missing;
}

/// The rule with segments or spread: chooses domains of (topology, level) within the set by capacity, in units of `unit` members.
template <class Group>
BERTH_HD std::int32_t fill_by_domain(Pass<Group>& w, GroupDemand& demand, const NodeSet& set, std::int32_t topology, std::int32_t level,
                                     std::int32_t unit, std::int64_t most, std::int32_t members, std::int32_t* count) {
  const GroupRow& row = *demand.row;
  const std::int32_t* order = w.p.topology[set.scan].order;
  const DomainRange range = level == 0 ? DomainRange{set.first, set.last} : domains_meeting(w.p, set, topology, level);
  std::int32_t* units = w.scratch.units;  // by domain, or by position at level 0
  std::int32_t* raws = w.scratch.raws;
  for (std::int32_t i = range.first + w.group.rank(); i < range.last; i += w.group.size()) {
    Measure m{};
    if (level == 0) {
      if (contains(w.p, set, order[i])) {
        m.plain = node_cap(w.p, w.s, row, order[i]);
        m.raw = node_raw(w.s, row, order[i], m.plain);
      }
    } else {
      m = measure_plain(w.p, w.s, row, within(w.p, set, topology, level, i), 0, 1);
    }
    const std::int64_t limited = m.plain < most ? m.plain : most;
    units[i] = static_cast<std::int32_t>(limited / unit);
    raws[i] = static_cast<std::int32_t>(m.raw);
  }
  w.group.sync();
  std::int32_t left = members / unit;
  while (left > 0) {
    Key best = kNoKey;
    for (std::int32_t i = range.first + w.group.rank(); i < range.last; i += w.group.size()) {
      const Key key = offer_key(units[i], raws[i], level == 0 ? order[i] : i, left);
      if (key < best) best = key;
    }
    best = w.group.min(best);
    if (best == kNoKey) return left * unit;
    const auto where = static_cast<std::int32_t>(best.lo);
    std::int32_t index = where;
    if (level == 0) {
      // The thread that owns a node finds its position again.
      std::int64_t position = 0;
      for (std::int32_t i = range.first + w.group.rank(); i < range.last; i += w.group.size()) {
        if (order[i] == where) position = i;
      }
      index = static_cast<std::int32_t>(w.group.sum(position));
    }
    const std::int32_t give = units[index] < left ? units[index] : left;
    w.group.sync();
    if (w.group.rank() == 0) units[index] = 0;
    w.group.sync();
    left -= give;
    std::int32_t missing = 0;
    if (level == 0) {
      std::int32_t t = give * unit;
      if (count != nullptr) {
        const std::int32_t domain =
            row.spread_level > 0 ? w.p.topology[row.spread_topology].node_domain[std::int64_t{row.spread_level} * w.p.n_nodes + where]
                                 : where;
        const std::int32_t allowed = row.spread_most - count[domain];
        if (allowed < t) {
          missing = t - (allowed > 0 ? allowed : 0);
          t -= missing;
        }
        w.group.sync();
        if (w.group.rank() == 0) count[domain] += t;
      }
      take_node(w, demand, where, t);
    } else if (count != nullptr) {
      missing = fill_nodes(w, demand, within(w.p, set, topology, level, where), give * unit, count);
    } else {
      missing = fill_plain(w, demand, within(w.p, set, topology, level, where), topology, level, where, give * unit, nullptr);
    }
    if (missing > 0) return missing;
  }
  return 0;
}

/// Fills a candidate: domain d at (topology, level) of the set. @returns the members that were not placed.
template <class Group>
BERTH_HD std::int32_t fill(Pass<Group>& w, GroupDemand& demand, const NodeSet& set, std::int32_t topology, std::int32_t level,
                           std::int32_t d, std::int32_t members) {
  const GroupRow& row = *demand.row;
  std::int32_t* count = nullptr;
  if (row.segment_size > 0 && row.spread_most > 0) {
    count = w.scratch.spread_count;
    const std::int32_t n = w.p.domains.n_domains > w.p.n_nodes ? w.p.domains.n_domains : w.p.n_nodes;
    for (std::int32_t i = w.group.rank(); i < n; i += w.group.size()) count[i] = 0;
    w.group.sync();
  }
  if (row.segment_size > 0) {
    return fill_by_domain(w, demand, set, row.segment_topology, row.segment_level, row.segment_size, INT32_MAX, members, count);
  }
  if (row.spread_most > 0)
    return fill_by_domain(w, demand, set, row.spread_topology, row.spread_level, 1, row.spread_most, members, nullptr);
  return fill_plain(w, demand, set, topology, level, d, members, nullptr);
}

}  // namespace berth::kernel
