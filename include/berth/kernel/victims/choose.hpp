#pragma once

#include <cstdint>

#include "berth/kernel/base/wide.hpp"
#include "berth/kernel/victims/gains.hpp"

/// Which node's set leaves next, what changes then, and which candidates stay after all (docs/victims.md, steps 4 and 5).
namespace berth::kernel {

inline constexpr std::uint8_t kVictimsGainChanged = 1;  // in VictimsWorkspace::node_changed
inline constexpr std::uint8_t kVictimsSetChanged = 2;

/// Whether set a is better than set b while `lacking` members find no room.
BERTH_HD inline bool better_victims(const VictimsBest& a, const VictimsBest& b, std::int64_t lacking) {
  if (a.count == 0 || b.count == 0) return a.count != 0;
  const std::int64_t gain_a = a.gain < lacking ? a.gain : lacking;
  const std::int64_t gain_b = b.gain < lacking ? b.gain : lacking;
  const Wide dear_a = Wide{a.cost} * gain_b, dear_b = Wide{b.cost} * gain_a;
  if (dear_a != dear_b) return dear_a < dear_b;
  if (a.cost != b.cost) return a.cost < b.cost;
  return a.count != b.count ? a.count < b.count : a.rank < b.rank;
}

BERTH_HD inline VictimsBest no_victims() { return {0, 0, 0, 0, kNone, kNone, 0}; }

/// The set of a node; its count is 0 where none makes room.
BERTH_HD inline VictimsBest set_of_node(const VictimsQuestion& q, const VictimsWorkspace& ws, std::int32_t node) {
  const std::int32_t count = ws.node_gain[node] == 0 ? 0 : ws.node_count[node];
  return {ws.node_cost[node], ws.node_gain[node], q.rank_of(node), count, node, kNone, 0};
}

/// A candidate alone; its count is 0 where it makes no room, or leaves already. One that stays has no gain.
BERTH_HD inline VictimsBest candidate_alone(const VictimsQuestion& q, const VictimsWorkspace& ws, std::int32_t candidate) {
  constexpr std::int64_t kAfterNodes = std::int64_t{1} << 32;
  const bool may_leave = ws.alone_gain[candidate] != 0 && (ws.state[candidate] & kVictimLeaves) == 0;
  return {q.cost_of(candidate), ws.alone_gain[candidate], kAfterNodes + candidate, may_leave ? 1 : 0, kNone, candidate, 0};
}

/// Finds the best set of a block again: of nodes, or behind them of candidates.
BERTH_HD inline void scan_victim_block(const VictimsQuestion& q, const VictimsWorkspace& ws, std::int32_t block, std::int64_t lacking) {
  const auto node_blocks = static_cast<std::int32_t>(victim_blocks(q.n_nodes));
  const bool of_nodes = block < node_blocks;
  const std::int32_t all = of_nodes ? q.n_nodes : q.n, begin = (of_nodes ? block : block - node_blocks) * kVictimBlock;
  const std::int32_t end = all - begin < kVictimBlock ? all : begin + kVictimBlock;
  VictimsBest best = no_victims();
  std::int64_t most = 0;
  for (std::int32_t i = begin; i < end; ++i) {
    if ((of_nodes ? ws.node_gain[i] : ws.alone_gain[i]) == 0) continue;
    const VictimsBest other = of_nodes ? set_of_node(q, ws, i) : candidate_alone(q, ws, i);
    if (other.count == 0) continue;
    most = other.gain > most ? other.gain : most;
    if (better_victims(other, best, lacking)) best = other;
  }
  ws.block_best[block] = best;
  ws.block_most[block] = most;
  ws.block_changed[block] = 0;
}

/// The set that leaves next. Blocks keep their best one unless one of them changed, or fewer members lack than some set makes room for.
template <class Group>
BERTH_HD VictimsBest best_victims(Group& g, const VictimsQuestion& q, const VictimsWorkspace& ws, std::int64_t lacking) {
  const auto blocks = static_cast<std::int32_t>(victim_blocks(q.n_nodes) + victim_blocks(q.n));
  VictimsBest mine = no_victims();
  for (std::int32_t b = g.rank(); b < blocks; b += g.size()) {
    if (ws.block_changed[b] != 0 || ws.block_most[b] > lacking) scan_victim_block(q, ws, b, lacking);
    if (ws.block_most[b] != 0 && better_victims(ws.block_best[b], mine, lacking)) mine = ws.block_best[b];
  }
  ws.lane_best[g.rank()] = mine;
  g.sync();
  std::int32_t best = 0;
  for (std::int32_t l = 1; l < g.size(); ++l) {
    if (better_victims(ws.lane_best[l], ws.lane_best[best], lacking)) best = l;
  }
  return ws.lane_best[best];
}

/// Notes that a set leaves. One thread uses it.
struct ChosenVictims {
  const VictimsQuestion& q;
  const VictimsWorkspace& ws;
  std::int32_t n_gangs_changed = 0;

  /// O(rows of the set x candidates of a node), and the rows of gangs whose gain changes.
  BERTH_HD void add(const VictimsBest& best) {
    ws.shared->n_changed = 0;
    if (best.node == kNone) add_candidate(best.candidate);
    const std::uint64_t set = best.node == kNone ? 0 : ws.node_set[best.node];
    for (VictimsSet rest{ws, best.node == kNone ? 0 : ws.node_begin[best.node], set}; !rest.empty(); rest.next()) {
      add_candidate(rest.candidate());
    }
    for (std::int32_t i = 0; i < n_gangs_changed; ++i) {
      const std::int32_t c = ws.gang_list[i];
      ws.state[c] &= static_cast<std::uint8_t>(~kVictimGangChanged);
      for (std::int32_t row = ws.row_begin[c]; row < ws.row_begin[c + 1]; ++row) {
        const std::int32_t at = ws.row_item[row];
        if (at == kNone) continue;
        const std::int32_t other = ws.item[at].node;
        if ((ws.node_set[other] >> (at - ws.node_begin[other]) & 1) != 0) change(other, kVictimsGainChanged);
      }
    }
    n_gangs_changed = 0;
  }

 private:
  BERTH_HD void add_candidate(std::int32_t c) {
    ws.state[c] |= kVictimLeaves;
    ws.order[ws.shared->n_chosen++] = c;
    change_candidate(c);
    for (std::int32_t row = ws.row_begin[c]; row < ws.row_begin[c + 1]; ++row) {
      if (ws.row_item[row] != kNone) leave(ws.item[ws.row_item[row]]);
    }
  }

  BERTH_HD void change_candidate(std::int32_t c) { ws.block_changed[victim_blocks(q.n_nodes) + c / kVictimBlock] = 1; }

  BERTH_HD void change(std::int32_t node, std::uint8_t what) {
    if (ws.node_changed[node] == 0) ws.changed[ws.shared->n_changed++] = node;
    ws.node_changed[node] |= what;
    ws.block_changed[node / kVictimBlock] = 1;
  }

  BERTH_HD void leave(const VictimsItem& item) {
    const std::int32_t node = item.node;
    const VictimsRoom before = victims_room(ws, node), room = with_item(before, item);
    change_gains(node, before, room);
    ws.node_gpus[node] = room.gpus;
    ws.node_cpu[node] = room.cpu;
    ws.node_memory[node] = room.memory;
    const std::int32_t cap = members_on(q, ws, node, room);
    ws.shared->members += cap - ws.node_cap[node];
    ws.node_cap[node] = cap;
    change(node, kVictimsSetChanged);
  }

  /// What each candidate of the node gains alone.
  BERTH_HD void change_gains(std::int32_t node, const VictimsRoom& before, const VictimsRoom& room) {
    for (std::int32_t at = ws.node_begin[node]; at < ws.node_begin[node + 1]; ++at) {
      const VictimsItem& item = ws.item[at];
      if (item.candidate == kNone) continue;
      std::uint8_t& state = ws.state[item.candidate];
      if ((state & (kVictimLeaves | kVictimStays)) != 0) continue;
      const std::int32_t more = item_gain(q, ws, item, room) - item_gain(q, ws, item, before);
      if (more == 0) continue;
      ws.alone_gain[item.candidate] += more;
      change_candidate(item.candidate);
      if ((state & kVictimGang) == 0) continue;
      if ((state & kVictimGangChanged) == 0) ws.gang_list[n_gangs_changed++] = item.candidate;
      state |= kVictimGangChanged;
    }
  }
};

/// Lets chosen candidates stay that are not needed. One thread uses it. O(chosen x log chosen), and the rows of the chosen.
struct KeptVictims {
  const VictimsQuestion& q;
  const VictimsWorkspace& ws;
  std::int64_t cost = 0;   // of those that leave
  std::int32_t count = 0;  // their number

  BERTH_HD void run(std::int64_t lacking) {
    std::int32_t* const heap = ws.order;
    std::int32_t n = ws.shared->n_chosen;
    std::int64_t members = ws.shared->members;  // others still read that one
    for (std::int32_t i = n / 2; i-- > 0;) sift_down_victims(heap, n, i);
    while (n > 0) {
      const std::int32_t c = heap[0];
      heap[0] = heap[--n];
      if (n > 0) sift_down_victims(heap, n, 0);
      const std::int64_t lost = loss(c);
      if (members - lost >= lacking) {
        members -= lost;
        stay(c);
        continue;
      }
      cost = saturating_add(cost, q.cost_of(c));
      ++count;
    }
  }

 private:
  /// Whether a is looked at before b.
  BERTH_HD bool before(std::int32_t a, std::int32_t b) const {
    if (q.priority[a] != q.priority[b]) return q.priority[a] > q.priority[b];
    const std::int64_t cost_a = q.cost_of(a), cost_b = q.cost_of(b);
    return cost_a != cost_b ? cost_a > cost_b : a > b;
  }
  BERTH_HD void sift_down_victims(std::int32_t* heap, std::int32_t n, std::int32_t i) const {
    const std::int32_t moved = heap[i];
    for (std::int32_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
      if (child + 1 < n && before(heap[child + 1], heap[child])) ++child;
      if (!before(heap[child], moved)) break;
      heap[i] = heap[child];
      i = child;
    }
    heap[i] = moved;
  }
  BERTH_HD std::int64_t loss(std::int32_t c) const {
    std::int64_t lost = 0;
    for (std::int32_t row = ws.row_begin[c]; row < ws.row_begin[c + 1]; ++row) {
      if (ws.row_item[row] == kNone) continue;
      const VictimsItem& item = ws.item[ws.row_item[row]];
      lost += ws.node_cap[item.node] - members_on(q, ws, item.node, without_item(victims_room(ws, item.node), item));
    }
    return lost;
  }
  BERTH_HD void stay(std::int32_t c) {
    ws.state[c] &= static_cast<std::uint8_t>(~kVictimLeaves);
    for (std::int32_t row = ws.row_begin[c]; row < ws.row_begin[c + 1]; ++row) {
      if (ws.row_item[row] == kNone) continue;
      const VictimsItem& item = ws.item[ws.row_item[row]];
      const VictimsRoom room = without_item(victims_room(ws, item.node), item);
      ws.node_gpus[item.node] = room.gpus;
      ws.node_cpu[item.node] = room.cpu;
      ws.node_memory[item.node] = room.memory;
      ws.node_cap[item.node] = members_on(q, ws, item.node, room);
    }
  }
};

}  // namespace berth::kernel
