#pragma once

#include <cassert>
#include <cstdint>

#include "berth/kernel/base/group.hpp"
#include "berth/kernel/victims/choose.hpp"

/// Which running jobs leave so that a job fits into a domain: the steps of docs/victims.md.
namespace berth::kernel {

/// Writes a row of the result. None of the candidates leaves unless `ws` is given.
template <class Group>
BERTH_HD void write_victims(Group& g, const VictimsQuestion& q, const VictimsRequest& r, std::int32_t at, VictimsOutcome outcome,
                            std::int64_t members, const VictimsWorkspace* ws, const VictimsResult& out) {
  for (std::int32_t c = g.rank(); c < q.n; c += g.size()) {
    out.chosen[r.chosen_begin[at] + c] = ws != nullptr && (ws->state[c] & kVictimLeaves) != 0 ? 1 : 0;
  }
  if (g.rank() != 0) return;
  out.outcome[at] = outcome;
  out.members[at] = members;
  if (ws != nullptr) return;  // the thread has written these
  out.priority[at] = 0;
  out.cost[at] = 0;
  out.count[at] = 0;
}

/// Puts a signed number in the order of unsigned ones, and back.
BERTH_HD inline std::uint32_t ordered(std::int32_t v) { return static_cast<std::uint32_t>(v) ^ 0x80000000u; }
BERTH_HD inline std::int32_t from_ordered(std::uint32_t v) { return static_cast<std::int32_t>(v ^ 0x80000000u); }

/// The least priority such that enough members fit if all candidates of at most that priority leave. At most 32 rounds: each looks at the
/// middle, and goes on with a priority that there is.
template <class Group>
BERTH_HD std::int32_t least_victim_priority(Group& g, const VictimsQuestion& q, const VictimsWorkspace& ws, std::int32_t items) {
  std::uint32_t least = UINT32_MAX, most = UINT32_MAX;  // `most`: of the inverted numbers
  for (std::int32_t at = g.rank(); at < items; at += g.size()) {
    const std::uint32_t v = ordered(ws.item[at].priority);
    least = v < least ? v : least;
    most = ~v < most ? ~v : most;
  }
  std::uint32_t low = g.min(least), high = ~g.min(most);
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    std::int64_t fit = 0;
    for (std::int32_t node = g.rank(); node < q.n_nodes; node += g.size()) fit += members_below(q, ws, node, from_ordered(middle));
    const bool enough = g.sum(fit) >= q.row->members;
    std::uint32_t next = UINT32_MAX;  // the greatest up to the middle, inverted; or the least beyond it
    for (std::int32_t at = g.rank(); at < items; at += g.size()) {
      const std::uint32_t v = ordered(ws.item[at].priority);
      if (enough && v <= middle) next = ~v < next ? ~v : next;
      if (!enough && v > middle) next = v < next ? v : next;
    }
    next = g.min(next);
    if (enough) {
      high = ~next;
    } else {
      low = next;
    }
  }
  return from_ordered(low);
}

/// States of candidates, and what each gains alone. All threads meet again before they read them.
template <class Group>
BERTH_HD void begin_victim_candidates(Group& g, const VictimsQuestion& q, std::int32_t priority, const VictimsWorkspace& ws) {
  for (std::int32_t c = g.rank(); c < q.n; c += g.size()) {
    const bool stays = q.priority[c] > priority;
    std::int32_t nodes = 0;
    for (std::int32_t row = ws.row_begin[c]; row < ws.row_begin[c + 1]; ++row) {
      nodes += ws.row_item[row] != kNone && ws.item[ws.row_item[row]].candidate == c ? 1 : 0;
    }
    ws.state[c] = stays ? kVictimStays : nodes > 1 ? kVictimGang : std::uint8_t{0};
    ws.alone_gain[c] = stays ? 0 : candidate_gain(q, ws, c);
    if (c % kVictimBlock == 0) ws.block_changed[victim_blocks(q.n_nodes) + c / kVictimBlock] = 1;
  }
}

/// Group body: one question. Sets are found again only for nodes of which a candidate leaves. O((nodes + rows) x log priorities), and for
/// each set that leaves O((nodes + candidates) / 32) and its nodes' sets.
///
/// @param ws  With room for victims_sizes(). The results can be read after the next barrier.
template <class Group>
BERTH_HD void victims(Group& g, const ProblemView& p, const VictimsPositions& positions, const VictimsRequest& r, std::int32_t at,
                      const VictimsWorkspace& ws, const VictimsResult& out) {
  const VictimsQuestion q(p, positions, r, at);
  const std::int64_t lacking = q.row->members;
  const std::int64_t fit = begin_victims(g, q, ws);
  if (fit >= lacking) return write_victims(g, q, r, at, VictimsOutcome::kFits, fit, nullptr, out);

  index_victims(g, q, ws);
  std::int64_t mine = 0;
  for (std::int32_t node = g.rank(); node < q.n_nodes; node += g.size()) {
    merge_victim_items(ws, node);
    mine += members_below(q, ws, node, INT32_MAX);
    ws.node_gpus[node] = 0;
    ws.node_cpu[node] = 0;
    ws.node_memory[node] = 0;
    ws.node_gain[node] = 0;
    ws.node_set[node] = 0;
    ws.node_changed[node] = 0;
    if (node % kVictimBlock == 0) ws.block_changed[node / kVictimBlock] = 1;
  }
  const std::int64_t members = g.sum(mine);
  if (members < lacking) return write_victims(g, q, r, at, VictimsOutcome::kNoRoom, members, nullptr, out);

  const std::int32_t priority = least_victim_priority(g, q, ws, ws.node_begin[q.n_nodes]);
  begin_victim_candidates(g, q, priority, ws);
  if (g.rank() == 0) *ws.shared = VictimsShared{fit, 0, 0};
  g.sync();
  const CheapestVictims cheapest{q, ws, priority, g.rank()};
  const auto look = [&](std::int32_t node) {
    if (ws.node_most[node] > ws.node_cap[node]) {
      cheapest.find(node);
      write_node_gain(q, ws, node);
    } else {
      ws.node_gain[node] = 0;
      ws.node_set[node] = 0;
    }
  };
  for (std::int32_t node = g.rank(); node < q.n_nodes; node += g.size()) {
    ws.node_most[node] = members_below(q, ws, node, priority);
    look(node);
  }
  g.sync();
  ChosenVictims chosen{q, ws};
  for (;;) {
    const std::int64_t now = ws.shared->members;
    if (now >= lacking) break;
    const VictimsBest best = best_victims(g, q, ws, lacking - now);
    if (best.count == 0) break;  // not for valid columns
    if (g.rank() == 0) chosen.add(best);
    g.sync();
    for (std::int32_t i = g.rank(); i < ws.shared->n_changed; i += g.size()) {
      const std::int32_t node = ws.changed[i];
      if ((ws.node_changed[node] & kVictimsSetChanged) != 0) {
        look(node);
      } else {
        write_node_gain(q, ws, node);
      }
      ws.node_changed[node] = 0;
    }
    g.sync();
  }
  if (g.rank() == 0) {
    KeptVictims kept{q, ws};
    kept.run(lacking);
    out.priority[at] = kept.count > 0 ? priority : 0;
    out.cost[at] = kept.cost;
    out.count[at] = kept.count;
  }
  g.sync();
  write_victims(g, q, r, at, VictimsOutcome::kChosen, members, &ws, out);
}

}  // namespace berth::kernel
