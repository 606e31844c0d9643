#pragma once

#include <cstdint>

#include "berth/kernel/base/wide.hpp"
#include "berth/kernel/victims/gains.hpp"

/// Which node's set leaves next, what changes then, and which candidates stay after all (docs/victims.md, steps 4 and 5).
namespace berth::kernel {

inline constexpr std::uint8_t kVictimsGainChanged = 1;  // in VictimsWorkspace::node_changed
inline constexpr std::uint8_t kVictimsSetChanged = 2;

/// Whether node a's set is better than node b's while `lacking` members find no room.
BERTH_HD inline bool better_victims(const VictimsQuestion& q, const VictimsWorkspace& ws, std::int32_t a, std::int32_t b,
                                    std::int64_t lacking) {
  const std::int64_t gain_a = ws.node_gain[a] < lacking ? ws.node_gain[a] : lacking;
  const std::int64_t gain_b = ws.node_gain[b] < lacking ? ws.node_gain[b] : lacking;
  const Wide dear_a = Wide{ws.node_cost[a]} * gain_b, dear_b = Wide{ws.node_cost[b]} * gain_a;
  if (dear_a != dear_b) return dear_a < dear_b;
  if (ws.node_cost[a] != ws.node_cost[b]) return ws.node_cost[a] < ws.node_cost[b];
  if (ws.node_count[a] != ws.node_count[b]) return ws.node_count[a] < ws.node_count[b];
  return q.rank_of(a) < q.rank_of(b);
}

/// Finds the best node of a block again.
BERTH_HD inline void scan_victim_block(const VictimsQuestion& q, const VictimsWorkspace& ws, std::int32_t block, std::int64_t lacking) {
  const std::int32_t begin = block * kVictimBlock;
  const std::int32_t end = q.n_nodes - begin < kVictimBlock ? q.n_nodes : begin + kVictimBlock;
  std::int32_t best = kNone;
  std::int64_t most = 0;
  for (std::int32_t node = begin; node < end; ++node) {
    if (ws.node_gain[node] == 0) continue;
    most = ws.node_gain[node] > most ? ws.node_gain[node] : most;
    if (best == kNone || better_victims(q, ws, node, best, lacking)) best = node;
  }
  ws.block_best[block] = best;
  ws.block_most[block] = most;
  ws.block_changed[block] = 0;
}

/// The node whose set leaves next, kNone: none. Blocks keep their best node unless one of them changed, or fewer members lack than some
/// set makes room for.
template <class Group>
BERTH_HD std::int32_t best_victims(Group& g, const VictimsQuestion& q, const VictimsWorkspace& ws, std::int64_t lacking) {
  const std::int32_t blocks = (q.n_nodes + kVictimBlock - 1) / kVictimBlock;
  std::int32_t mine = kNone;
  for (std::int32_t b = g.rank(); b < blocks; b += g.size()) {
    if (ws.block_changed[b] != 0 || ws.block_most[b] > lacking) scan_victim_block(q, ws, b, lacking);
    const std::int32_t best = ws.block_best[b];
    if (best != kNone && (mine == kNone || better_victims(q, ws, best, mine, lacking))) mine = best;
  }
  ws.lane_node[g.rank()] = mine;
  g.sync();
  std::int32_t best = kNone;
  for (std::int32_t l = 0; l < g.size(); ++l) {
    const std::int32_t other = ws.lane_node[l];
    if (other != kNone && (best == kNone || better_victims(q, ws, other, best, lacking))) best = other;
  }
  return best;
}

/// Notes that a set leaves. One thread uses it.
struct ChosenVictims {
  const VictimsQuestion& q;
  const VictimsWorkspace& ws;
  bool gangs;  // some candidates are gangs
  std::int32_t n_gangs_changed = 0;

  /// O(rows of the set x candidates of a node), and the rows of gangs whose gain changes.
  BERTH_HD void add(std::int32_t node) {
    ws.shared->n_changed = 0;
    const VictimsSet set{ws, ws.node_begin[node], ws.node_set[node]};
    for (VictimsSet rest = set; !rest.empty(); rest.next()) {
      const std::int32_t c = rest.candidate();
      ws.state[c] |= kVictimLeaves;
      ws.order[ws.shared->n_chosen++] = c;
      for (std::int32_t row = ws.row_begin[c]; row < ws.row_begin[c + 1]; ++row) {
        if (ws.row_item[row] != kNone) leave(ws.item[ws.row_item[row]]);
      }
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
  BERTH_HD void change(std::int32_t node, std::uint8_t what) {
    if (ws.node_changed[node] == 0) ws.changed[ws.shared->n_changed++] = node;
    ws.node_changed[node] |= what;
    ws.block_changed[node / kVictimBlock] = 1;
  }

  BERTH_HD void leave(const VictimsItem& item) {
    const std::int32_t node = item.node;
    const VictimsRoom before = victims_room(ws, node), room = with_item(before, item);
    if (gangs) change_gangs(node, before, room);
    ws.node_gpus[node] = room.gpus;
    ws.node_cpu[node] = room.cpu;
    ws.node_memory[node] = room.memory;
    const std::int32_t cap = members_on(q, ws, node, room);
    ws.shared->members += cap - ws.node_cap[node];
    ws.node_cap[node] = cap;
    change(node, kVictimsSetChanged);
  }

  BERTH_HD void change_gangs(std::int32_t node, const VictimsRoom& before, const VictimsRoom& room) {
    for (std::int32_t at = ws.node_begin[node]; at < ws.node_begin[node + 1]; ++at) {
      const VictimsItem& item = ws.item[at];
      if (item.candidate == kNone) continue;
      std::uint8_t& state = ws.state[item.candidate];
      if ((state & kVictimGang) == 0 || (state & kVictimLeaves) != 0) continue;
      const std::int32_t more = item_gain(q, ws, item, room) - item_gain(q, ws, item, before);
      if (more == 0) continue;
      ws.gang_gain[item.candidate] += more;
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
    for (std::int32_t i = n / 2; i-- > 0;) sift_down_victims(heap, n, i);
    while (n > 0) {
      const std::int32_t c = heap[0];
      heap[0] = heap[--n];
      if (n > 0) sift_down_victims(heap, n, 0);
      const std::int64_t lost = loss(c);
      if (ws.shared->members - lost >= lacking) {
        ws.shared->members -= lost;
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
