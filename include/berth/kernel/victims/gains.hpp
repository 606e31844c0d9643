#pragma once

#include <cstdint>

#include "berth/kernel/victims/cheapest.hpp"

/// How many more members fit on all nodes of the domain if a set of candidates leaves, too.
namespace berth::kernel {

/// On one node, if the item leaves.
BERTH_HD inline std::int32_t item_gain(const VictimsQuestion& q, const VictimsWorkspace& ws, const VictimsItem& item,
                                       const VictimsRoom& room) {
  return members_on(q, ws, item.node, with_item(room, item)) - members_on(q, ws, item.node, room);
}

/// On all nodes, if the candidate leaves. O(its rows)
BERTH_HD inline std::int64_t candidate_gain(const VictimsQuestion& q, const VictimsWorkspace& ws, std::int32_t candidate) {
  std::int64_t gain = 0;
  for (std::int32_t row = ws.row_begin[candidate]; row < ws.row_begin[candidate + 1]; ++row) {
    if (ws.row_item[row] == kNone) continue;
    const VictimsItem& item = ws.item[ws.row_item[row]];
    gain += item_gain(q, ws, item, victims_room(ws, item.node));
  }
  return gain;
}

/// The candidates of a node's set, in order of preference.
struct VictimsSet {
  const VictimsWorkspace& ws;
  std::int32_t begin;
  std::uint64_t set;

  BERTH_HD std::int32_t candidate() const { return ws.item[begin + lowest(set)].candidate; }
  BERTH_HD bool empty() const { return set == 0; }
  BERTH_HD void next() { set &= set - 1; }
};

/// On another node than the set's own: what the set frees there. `first` is the first candidate of the set that holds part of it.
BERTH_HD inline std::int32_t gain_elsewhere(const VictimsQuestion& q, const VictimsWorkspace& ws, VictimsSet set, std::int32_t node,
                                            std::int32_t& first) {
  const VictimsRoom now = victims_room(ws, node);
  VictimsRoom room = now;
  first = kNone;
  for (std::int32_t at = ws.node_begin[node]; at < ws.node_begin[node + 1] && !set.empty(); ++at) {
    const VictimsItem& item = ws.item[at];
    if (item.candidate == kNone) continue;
    while (!set.empty() && set.candidate() < item.candidate) set.next();
    if (set.empty() || set.candidate() != item.candidate) continue;
    if (first == kNone) first = item.candidate;
    room = with_item(room, item);
  }
  return members_on(q, ws, node, room) - members_on(q, ws, node, now);
}

/// Writes node_gain of a node with a set. What one gang in the set gains is known. With several, all of their nodes are visited.
BERTH_HD inline void write_node_gain(const VictimsQuestion& q, const VictimsWorkspace& ws, std::int32_t node) {
  const VictimsSet set{ws, ws.node_begin[node], ws.node_set[node]};
  const VictimsRoom now = victims_room(ws, node);
  VictimsRoom room = now;
  std::int32_t gangs = 0;
  std::int64_t elsewhere = 0;
  for (VictimsSet rest = set; !rest.empty(); rest.next()) {
    const VictimsItem& item = ws.item[rest.begin + lowest(rest.set)];
    room = with_item(room, item);
    if ((ws.state[item.candidate] & kVictimGang) == 0) continue;
    ++gangs;
    elsewhere += ws.alone_gain[item.candidate] - item_gain(q, ws, item, now);
  }
  if (gangs > 1) {
    elsewhere = 0;
    for (VictimsSet rest = set; !rest.empty(); rest.next()) {
      const std::int32_t c = rest.candidate();
      if ((ws.state[c] & kVictimGang) == 0) continue;
      for (std::int32_t row = ws.row_begin[c]; row < ws.row_begin[c + 1]; ++row) {
        if (ws.row_item[row] == kNone || ws.row_node[row] == node || ws.item[ws.row_item[row]].candidate != c) continue;
        std::int32_t first = kNone;
        const std::int32_t gain = gain_elsewhere(q, ws, set, ws.row_node[row], first);
        if (first == c) elsewhere += gain;
      }
    }
  }
  ws.node_gain[node] = elsewhere + members_on(q, ws, node, room) - members_on(q, ws, node, now);
}

}  // namespace berth::kernel
