#pragma once

#include <cassert>
#include <cstdint>

#include "berth/kernel/victims/index.hpp"

/// The cheapest set of candidates that lets one more member fit on a node (docs/victims.md, step 4).
namespace berth::kernel {

inline constexpr std::uint8_t kVictimLeaves = 1;       // in VictimsWorkspace::state
inline constexpr std::uint8_t kVictimGang = 2;         // it holds GPUs of several nodes of the domain
inline constexpr std::uint8_t kVictimStays = 8;        // its priority is too high
inline constexpr std::uint8_t kVictimGangChanged = 4;  // it is in VictimsWorkspace::gang_list

/// What the chosen ones free on a node.
BERTH_HD inline VictimsRoom victims_room(const VictimsWorkspace& ws, std::int32_t node) {
  return {ws.node_cpu[node], ws.node_memory[node], ws.node_gpus[node]};
}

BERTH_HD inline VictimsRoom with_item(VictimsRoom room, const VictimsItem& item) {
  return {room.cpu + item.cpu, room.memory + item.memory, room.gpus + item.gpus};
}

BERTH_HD inline VictimsRoom without_item(VictimsRoom room, const VictimsItem& item) {
  return {room.cpu - item.cpu, room.memory - item.memory, room.gpus - item.gpus};
}

BERTH_HD inline std::int32_t members_on(const VictimsQuestion& q, const VictimsWorkspace& ws, std::int32_t node, const VictimsRoom& room) {
  return q.members_on(q.rank_of(node), ws.node_free[node], room);
}

/// One thread's search for the set of one node. O(items x GPUs of a member), and O(items^2) where cores or memory lack.
struct CheapestVictims {
  const VictimsQuestion& q;
  const VictimsWorkspace& ws;
  std::int32_t priority;  // candidates of higher priority stay
  std::int32_t lane;

  /// Writes node_set, node_cost and node_count. Only for nodes on which more would fit.
  BERTH_HD void find(std::int32_t node) const {
    const std::int32_t begin = ws.node_begin[node], n = number(node);
    const std::int32_t cap = ws.node_cap[node];
    const VictimsRoom room = victims_room(ws, node);
    const std::int32_t lacking = (cap + 1) * q.row->gpus - ws.node_free[node] - room.gpus;
    std::uint64_t set = lacking > 0 ? by_gpus(begin, n, lacking) : 0;
    if (members_on(q, ws, node, with_set(begin, set, room)) <= cap) set = by_limits(node, begin, n, set, room);
    std::int64_t cost = 0;
    for (std::uint64_t rest = set; rest != 0; rest &= rest - 1) cost += ws.item[begin + lowest(rest)].cost;
    ws.node_set[node] = set;
    ws.node_cost[node] = cost;
    ws.node_count[node] = popcount(set);
  }

 private:
  BERTH_HD std::int32_t number(std::int32_t node) const {
    const std::int32_t n = ws.node_begin[node + 1] - ws.node_begin[node];
    assert(n <= kMostVictimGpus);
    return n < kMostVictimGpus ? n : kMostVictimGpus;
  }
  BERTH_HD bool may_leave(const VictimsItem& item) const {
    return item.candidate != kNone && item.priority <= priority && (ws.state[item.candidate] & kVictimLeaves) == 0;
  }
  BERTH_HD VictimsRoom with_set(std::int32_t begin, std::uint64_t set, VictimsRoom room) const {
    for (; set != 0; set &= set - 1) room = with_item(room, ws.item[begin + lowest(set)]);
    return room;
  }

  /// The cheapest set that frees that many GPUs, 0: none does. From the last item to the first, each number of GPUs has the cheapest set of
  /// the items seen. Where an item may be in it or not, it is: so the first ones of equal sets are taken.
  BERTH_HD std::uint64_t by_gpus(std::int32_t begin, std::int32_t n, std::int32_t lacking) const {
    if (lacking > kMostVictimGpus) return 0;
    std::int64_t* const cost = ws.set_cost + std::int64_t{lane} * (kMostVictimGpus + 1);
    std::int32_t* const count = ws.set_count + std::int64_t{lane} * (kMostVictimGpus + 1);
    std::uint64_t* const taken = ws.set_taken + std::int64_t{lane} * kMostVictimGpus;
    cost[0] = 0;
    count[0] = 0;
    for (std::int32_t k = 1; k <= lacking; ++k) cost[k] = -1;
    for (std::int32_t i = n - 1; i >= 0; --i) {
      const VictimsItem& item = ws.item[begin + i];
      taken[i] = 0;
      if (item.gpus == 0 || !may_leave(item)) continue;
      for (std::int32_t k = lacking; k > 0; --k) {
        const std::int32_t rest = k > item.gpus ? k - item.gpus : 0;
        if (cost[rest] < 0) continue;
        const std::int64_t with = cost[rest] + item.cost;
        const std::int32_t number = count[rest] + 1;
        if (cost[k] >= 0 && (with > cost[k] || (with == cost[k] && number > count[k]))) continue;
        cost[k] = with;
        count[k] = number;
        taken[i] |= std::uint64_t{1} << (k - 1);
      }
    }
    std::uint64_t set = 0;
    for (std::int32_t i = 0, k = lacking; i < n && k > 0; ++i) {
      if ((taken[i] >> (k - 1) & 1) == 0) continue;
      set |= std::uint64_t{1} << i;
      k = k > ws.item[begin + i].gpus ? k - ws.item[begin + i].gpus : 0;
    }
    return set;
  }

  /// Adds the cheapest candidates until one more member fits, and gives back those that are not needed, the dearest first.
  BERTH_HD std::uint64_t by_limits(std::int32_t node, std::int32_t begin, std::int32_t n, std::uint64_t set, VictimsRoom room) const {
    const std::int32_t cap = ws.node_cap[node];
    room = with_set(begin, set, room);
    while (members_on(q, ws, node, room) <= cap) {
      std::int32_t best = kNone;
      for (std::int32_t i = 0; i < n; ++i) {
        if ((set >> i & 1) != 0 || !may_leave(ws.item[begin + i])) continue;
        if (best == kNone || ws.item[begin + i].cost < ws.item[begin + best].cost) best = i;
      }
      if (best == kNone) return 0;  // not for valid columns
      set |= std::uint64_t{1} << best;
      room = with_item(room, ws.item[begin + best]);
    }
    for (std::uint64_t left = set; left != 0;) {
      std::int32_t dearest = lowest(left);
      for (std::uint64_t rest = left; rest != 0; rest &= rest - 1) {
        if (ws.item[begin + lowest(rest)].cost >= ws.item[begin + dearest].cost) dearest = lowest(rest);
      }
      left &= ~(std::uint64_t{1} << dearest);
      const VictimsRoom without = without_item(room, ws.item[begin + dearest]);
      if (members_on(q, ws, node, without) <= cap) continue;
      room = without;
      set &= ~(std::uint64_t{1} << dearest);
    }
    return set;
  }
};

}  // namespace berth::kernel
