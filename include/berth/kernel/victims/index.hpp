#pragma once

#include <cstdint>

#include "berth/kernel/victims/question.hpp"

/// Writes what the candidates of a question hold, by node and in order of preference.
namespace berth::kernel {

/// Nodes of the domain, with no candidate chosen. @returns the members that fit
template <class Group>
BERTH_HD std::int64_t begin_victims(Group& g, const VictimsQuestion& q, const VictimsWorkspace& ws) {
  std::int64_t fit = 0;
  for (std::int32_t i = g.rank(); i < q.n_nodes; i += g.size()) {
    const std::int32_t rank = q.rank_of(i);
    const bool usable = q.may_use(rank);
    ws.node_free[i] = usable ? popcount(q.p->node_free[rank]) : -1;
    ws.node_cap[i] = usable ? q.members_on(rank, ws.node_free[i], VictimsRoom{0, 0, 0}) : 0;
    ws.node_begin[i] = 0;
    fit += ws.node_cap[i];
  }
  return g.sum(fit);
}

/// Rows of all candidates, each with its node. @returns the number of rows
template <class Group>
BERTH_HD std::int32_t list_victim_rows(Group& g, const VictimsQuestion& q, const VictimsWorkspace& ws) {
  const ProblemView& p = *q.p;
  std::int64_t rows = 0;
  for (std::int32_t base = 0; base < q.n; base += g.size()) {
    const std::int32_t c = base + g.rank();
    const std::int32_t job = c < q.n ? q.job[c] : 0;
    std::int64_t all = 0;
    const std::int32_t held = c < q.n ? p.held_end[job] - p.held_begin[job] : 0;
    const auto begin = static_cast<std::int32_t>(rows + g.scan(held, all));
    rows += all;
    if (c >= q.n) continue;
    ws.row_begin[c] = begin;
    for (std::int32_t h = 0; h < held; ++h) {
      const std::int32_t node = q.node_of(p.held[p.held_begin[job] + h].node);
      ws.row_candidate[begin + h] = c;
      ws.row_node[begin + h] = node == kNone || ws.node_free[node] < 0 ? kNone : node;
    }
  }
  if (g.rank() == 0) ws.row_begin[q.n] = static_cast<std::int32_t>(rows);
  g.sync();
  return static_cast<std::int32_t>(rows);
}

/// Gives each row its place among those of its node, in the order of rows; node_begin then has their numbers.
template <class Group>
BERTH_HD void rank_victim_rows(Group& g, std::int32_t rows, const VictimsWorkspace& ws) {
  for (std::int32_t base = 0; base < rows; base += g.size()) {
    const std::int32_t row = base + g.rank();
    const std::int32_t node = row < rows ? ws.row_node[row] : kNone;
    ws.lane_node[g.rank()] = node;
    g.sync();
    std::int32_t place = 0;
    bool last = node != kNone;
    if (node != kNone) {
      place = ws.node_begin[node];
      for (std::int32_t l = 0; l < g.size(); ++l) {
        if (l == g.rank() || ws.lane_node[l] != node) continue;
        if (l < g.rank()) {
          ++place;
        } else {
          last = false;
        }
      }
      ws.row_item[row] = place;
    }
    g.sync();
    if (last) ws.node_begin[node] = place + 1;
  }
  g.sync();
}

/// All items, by node.
template <class Group>
BERTH_HD void index_victims(Group& g, const VictimsQuestion& q, const VictimsWorkspace& ws) {
  const ProblemView& p = *q.p;
  const std::int32_t rows = list_victim_rows(g, q, ws);
  rank_victim_rows(g, rows, ws);
  std::int64_t items = 0;
  for (std::int32_t base = 0; base < q.n_nodes; base += g.size()) {
    const std::int32_t i = base + g.rank();
    std::int64_t all = 0;
    const std::int64_t before = g.scan(i < q.n_nodes ? ws.node_begin[i] : 0, all);
    if (i < q.n_nodes) ws.node_begin[i] = static_cast<std::int32_t>(items + before);
    items += all;
  }
  if (g.rank() == 0) ws.node_begin[q.n_nodes] = static_cast<std::int32_t>(items);
  g.sync();
  for (std::int32_t row = g.rank(); row < rows; row += g.size()) {
    const std::int32_t node = ws.row_node[row], c = ws.row_candidate[row];
    if (node == kNone) {
      ws.row_item[row] = kNone;
      continue;
    }
    const HeldRow& held = p.held[p.held_begin[q.job[c]] + row - ws.row_begin[c]];
    const std::int32_t at = ws.node_begin[node] + ws.row_item[row];
    VictimsItem& item = ws.item[at];
    item.cost = q.cost_of(c);
    item.cpu = VictimsQuestion::bounded(held.cpu);
    item.memory = VictimsQuestion::bounded(held.memory);
    item.candidate = c;
    item.priority = q.priority[c];
    item.gpus = popcount(held.mask & p.node_open[held.node] & ~p.node_free[held.node]);
    item.node = node;
    ws.row_item[row] = at;
  }
  g.sync();
}

/// Adds the items of one candidate of a node to the first of them: a job may hold several rows of a node.
BERTH_HD inline void merge_victim_items(const VictimsWorkspace& ws, std::int32_t node) {
  std::int32_t first = kNone;
  for (std::int32_t at = ws.node_begin[node]; at < ws.node_begin[node + 1]; ++at) {
    VictimsItem& item = ws.item[at];
    if (first == kNone || ws.item[first].candidate != item.candidate) {
      first = at;
      continue;
    }
    ws.item[first].gpus += item.gpus;
    ws.item[first].cpu += item.cpu;
    ws.item[first].memory += item.memory;
    item.gpus = 0;
    item.cpu = 0;
    item.memory = 0;
    item.candidate = kNone;
  }
}

/// Members that fit on the node if all candidates of at most that priority leave.
BERTH_HD inline std::int32_t members_below(const VictimsQuestion& q, const VictimsWorkspace& ws, std::int32_t node, std::int32_t priority) {
  if (ws.node_free[node] < 0) return 0;
  VictimsRoom room{0, 0, 0};
  for (std::int32_t at = ws.node_begin[node]; at < ws.node_begin[node + 1]; ++at) {
    const VictimsItem& item = ws.item[at];
    if (item.priority > priority) continue;
    room.gpus += item.gpus;
    room.cpu += item.cpu;
    room.memory += item.memory;
  }
  return q.members_on(q.rank_of(node), ws.node_free[node], room);
}

}  // namespace berth::kernel
