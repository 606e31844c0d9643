#include "host/core/reasons/shortage.hpp"

#include <algorithm>
#include <bit>

#include "host/core/base/wide.hpp"

namespace berth::core {
namespace {

using kernel::GroupRow;
using kernel::kNone;

bool spreads(const GroupRow& g) { return g.spread_most > 0 && g.spread_most < g.members; }

bool plain(const GroupRow& g) { return g.require_level == kNone && g.segment_size == 0 && !spreads(g); }

// Spread over nodes, and nothing else.
bool is_apart(const GroupRow& g) { return g.require_level == kNone && g.segment_size == 0 && spreads(g) && g.spread_level == 0; }

void set(Reason& reason, const Change& change) {
  reason.missing = change.missing;
  reason.with_cpu_and_memory = change.with_cpu_and_memory;
  if (change.where != kNone) reason.where = change.where;
}

Reason reason_at(ReasonCode code, std::int32_t topology, std::int32_t level, std::int64_t asked, std::int64_t best) {
  Reason reason;
  reason.code = code;
  reason.topology = static_cast<std::uint8_t>(topology);
  reason.level = static_cast<std::int8_t>(level);
  reason.asked = asked;
  reason.best = best;
  return reason;
}

// The order in which causes are dominant (berth/plan.hpp).
int precedence(ReasonCode code) {
  switch (code) {
    case ReasonCode::kInsufficientGpus:
      return 0;
    case ReasonCode::kGpuMemory:
      return 1;
    case ReasonCode::kCpu:
      return 2;
    case ReasonCode::kMemory:
      return 3;
    case ReasonCode::kNodeConstraint:
      return 4;
    default:
      return 5;
  }
}

}  // namespace

void Shortage::begin(const kernel::ProblemView& problem, const SupplyView& free, const SupplyView& total) {
  problem_ = &problem;
  free_.begin(problem, free, true);
  SupplyView open = total;
  open.free = problem.node_open;
  total_.begin(problem, open, false);
  of_type_nodes_.assign(static_cast<std::size_t>(problem.n_types), 0);
  for (std::int32_t node = 0; node < problem.n_nodes; ++node) ++of_type_nodes_[static_cast<std::size_t>(problem.node_type[node])];
}

// A filter passes nodes of one GPU type.
bool Shortage::some_nodes(const kernel::DemandRow& d) const {
  const std::uint64_t* words = problem_->filter_words + std::int64_t{d.filter} * problem_->n_words;
  std::int32_t nodes = 0;
  for (std::int32_t word = 0; word < problem_->n_words; ++word) nodes += std::popcount(words[word]);
  return nodes < of_type_nodes_[static_cast<std::size_t>(d.gpu_type)];
}

void Shortage::look_at(const kernel::DemandRow& d) {
  filter_ = d.filter;
  rows_.clear();
  gpus_ = of_type_ = 0;
  for (const Capacity::Row& row : free_.rows()) {
    if (problem_->node_type[row.node] == d.gpu_type) of_type_ += row.gpus;
    if (!free_.allowed(d.filter, row.node)) continue;
    rows_.push_back(row);
    gpus_ += row.gpus;
  }
}

Reason Shortage::find(std::int32_t demand, TimeUs end) {
  const kernel::DemandRow& d = problem_->demands[demand];
  const GroupRow* groups = problem_->groups + d.group_begin;
  const std::int32_t n = d.group_end - d.group_begin;
  end_ = end;
  look_at(d);

  const bool alone = n == 1;
  Reason reason;
  if (gpus_ < d.gpus) {
    // With one required domain for the whole gang, the evidence is about that level.
    const ReasonCode code = of_type_ >= d.gpus ? ReasonCode::kNodeConstraint : ReasonCode::kInsufficientGpus;
    if (alone && groups[0].require_level != kNone && code == ReasonCode::kInsufficientGpus && required(groups, 0, true, reason)) {
      reason.code = code;
    } else if (const bool one_piece = groups[0].members == 1 && groups[0].gpus > 1;
               one_piece && alone && plain(groups[0]) && code == ReasonCode::kInsufficientGpus) {
      // All on one node: the node with most free says more than a sum.
      reason = of_pieces(groups[0], count(groups[0]), true);
      reason.code = code;
      reason.free = 0;
    } else {
      reason = reason_at(code, 0, -1, d.gpus, gpus_);
      if (of_type_ > gpus_) reason.free = of_type_;
      if (alone && plain(groups[0])) {
        set(reason, change_for(groups[0], false));
        if (groups[0].gpus > 1) reason.members = groups[0].members;
      }
      if (alone && is_apart(groups[0])) be_apart(groups[0], reason);
    }
    reason.gpu_type = d.gpu_type;
    reason.some_nodes = some_nodes(d);
    return reason;
  }
  for (std::int32_t i = 0; i < n; ++i) {
    if (groups[i].members == 0) continue;
    const Counts counts = count(groups[i]);
    if (counts.at[4] >= groups[i].members) continue;
    const Reason here = of_pieces(groups[i], counts, alone && plain(groups[i]));
    if (reason.code == ReasonCode::kNone || precedence(here.code) < precedence(reason.code)) reason = here;
  }
  for (std::int32_t i = 0; reason.code == ReasonCode::kNone && i < n; ++i) {
    if (groups[i].require_level != kNone) required(groups, i, alone, reason);
  }
  for (std::int32_t i = 0; reason.code == ReasonCode::kNone && i < n; ++i) {
    if (groups[i].segment_size > 0 || groups[i].spread_most > 0) spread_out(groups[i], reason);
  }
  if (alone && is_apart(groups[0]) && reason.code == ReasonCode::kFragmented) be_apart(groups[0], reason);
  if (reason.code == ReasonCode::kNone) return reason;
  reason.gpu_type = d.gpu_type;
  reason.some_nodes = some_nodes(d);
  return reason;
}

// The change after which a gang of this group alone would start; at one place, where it must be there.
Change Shortage::change_for(const GroupRow& group, bool may_name, std::int32_t topology, std::int32_t level, std::int32_t where) const {
  ChangeInput in;
  in.topology = topology;
  in.level = level;
  in.where = where;
  in.problem = problem_;
  in.free = &free_;
  in.rows = &rows_;
  in.total = &total_;
  in.filter = filter_;
  in.end = end_;
  return smallest_change(in, group, may_name);
}

// Evidence of a gang spread over nodes: it lacks members that find room, not GPUs.
void Shortage::be_apart(const GroupRow& group, Reason& reason) const {
  std::int64_t have = 0;
  for (const Capacity::Row& row : rows_) have += std::min(most_on_node(group), free_.members(row, group, Stage::kUntil, end_));
  reason.level = 0;
  reason.topology = 0;
  reason.asked = std::int64_t{group.members} * group.gpus;
  reason.best = have * group.gpus;
  reason.members = group.members;
  reason.apart = group.spread_most;
  set(reason, change_for(group, true));
}

// Counting stops where the group fits, as nothing else matters then.
Shortage::Counts Shortage::count(const GroupRow& group) const {
  Counts counts{};
  for (std::size_t i = 0; i < rows_.size() && counts.at[4] < group.members; ++i) free_.add_members(rows_[i], group, end_, counts.at);
  return counts;
}

// The group does not fit even without regard to domains; the first stage that falls short names the cause.
Reason Shortage::of_pieces(const GroupRow& group, const Counts& counts, bool alone) const {
  const std::int64_t m = group.members;
  const bool whole = group.share_ppm == kWholeGpu;
  if (counts.at[0] < m && !whole) {
    Reason reason = reason_at(ReasonCode::kInsufficientGpus, 0, -1, m, counts.at[0]);
    if (alone) set(reason, change_for(group, false));
    return reason;
  }
  if (counts.at[0] < m) {
    Reason reason = reason_at(ReasonCode::kFragmented, 0, 0, m * group.gpus, counts.at[0] * group.gpus);
    reason.members = group.members;
    reason.free = gpus_;
    const Change change = alone ? change_for(group, true) : Change{};
    set(reason, change);
    // For one member the evidence is a node: the one to free, else the one with most. It is named unless another may be
    // freed.
    for (const Capacity::Row& row : rows_) {
      if (m > 1 || (change.where != kNone ? row.node != change.where : row.gpus <= reason.best)) continue;
      reason.best = row.gpus;
      if (change.missing == 0) reason.where = row.node;
    }
    return reason;
  }
  if (counts.at[1] < m) {
    std::int64_t has = 0;
    for (const Capacity::Row& row : rows_) has = std::max(has, problem_->type_memory[problem_->node_type[row.node]]);
    return reason_at(ReasonCode::kGpuMemory, 0, 0, group.gpu_memory, has);
  }
  if (counts.at[3] >= m) {
    Reason reason = reason_at(ReasonCode::kNodeConstraint, 0, -1, m * group.gpus, counts.at[4] * group.gpus);
    reason.until_us = 0;
    for (const Capacity::Row& row : rows_) {
      if (const TimeUs until = problem_->node_until[row.node]; until != kNever) reason.until_us = std::max(reason.until_us, until);
    }
    return reason;
  }

  const bool cpu = counts.at[2] < m;
  const std::int64_t per = cpu ? group.cpu : group.memory;
  const std::int64_t have = counts.at[cpu ? 2 : 3];
  Reason reason = reason_at(cpu ? ReasonCode::kCpu : ReasonCode::kMemory, 0, 0, per, 0);
  if (m > 1) {  // several members: what all of them need together, counted in members that fit on the free GPUs
    reason.level = -1;
    reason.members = group.members;
    reason.asked = saturating_mul(m, per);
    reason.best = saturating_mul(have, per);
    return reason;
  }
  const Capacity::Row* most = nullptr;
  for (const Capacity::Row& row : rows_) {
    if (free_.members(row, group, cpu ? Stage::kGpuMemory : Stage::kCpu, end_) == 0) continue;
    const std::int64_t has = cpu ? row.cpu : row.memory;
    if (most != nullptr && has <= reason.best) continue;
    most = &row;
    reason.where = row.node;
    reason.best = has;
  }
  if (alone && most != nullptr && lacks_only(*most, group, cpu)) reason.missing = per - reason.best;
  return reason;
}

// The node has room for one member except for its cores (or memory), of which its total is enough.
bool Shortage::lacks_only(const Capacity::Row& row, const GroupRow& group, bool cpu) const {
  Capacity::Row then = row;
  const Capacity::Row all = total_.row(row.node);
  (cpu ? then.cpu : then.memory) = cpu ? all.cpu : all.memory;
  return free_.members(then, group, Stage::kUntil, end_) > 0;
}

std::int64_t Shortage::place(std::int32_t topology, std::int32_t level, std::int32_t node) const {
  if (level == 0) return node;
  const kernel::TopologyView& f = problem_->topology[topology];
  return f.node_domain[std::int64_t{level} * problem_->n_nodes + node];
}

// No named domain of the required level holds the subtree of `row`: evidence is the domain that holds most of it.
bool Shortage::required(const GroupRow* rows, std::int32_t row, bool alone, Reason& reason) {
  const GroupRow& top = rows[row];
  const std::int32_t topology = top.require_topology, level = top.require_level;
  const kernel::TopologyView& f = problem_->topology[topology];
  const std::int32_t begin = level == 0 ? 0 : f.level_begin[level];
  const std::int32_t end = level == 0 ? problem_->n_nodes : f.level_begin[level + 1];
  const auto n = static_cast<std::size_t>(end - begin);
  raw_.assign(n, 0);
  for (const Capacity::Row& r : rows_) raw_[static_cast<std::size_t>(place(topology, level, r.node) - begin)] += r.gpus;

  const bool single = top.subtree_end == row + 1;
  std::vector<std::int64_t>& fits = least_;  // one row of the subtree at a time: members that the domain holds, then GPUs that it lacks
  std::int64_t best = -1;
  std::int32_t where = -1;
  bool enough_gpus = false;
  pieces_.clear();
  for (std::int32_t i = row; i < top.subtree_end; ++i) {
    if (rows[i].members == 0) continue;
    fits.assign(n, 0);
    for (const Capacity::Row& r : rows_) {
      fits[static_cast<std::size_t>(place(topology, level, r.node) - begin)] += free_.members(r, rows[i], Stage::kUntil, end_);
    }
    for (std::size_t d = 0; d < n; ++d) {
      if (fits[d] < rows[i].members) pieces_.push_back({static_cast<std::int32_t>(d), i, fits[d]});
    }
  }
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.outer != b.outer ? a.outer < b.outer : a.inner < b.inner; });
  std::size_t at = 0;
  for (std::size_t d = 0; d < n; ++d) {
    const auto domain = static_cast<std::int32_t>(d) + begin;
    while (at < pieces_.size() && pieces_[at].outer < static_cast<std::int32_t>(d)) ++at;
    const bool fails = at < pieces_.size() && pieces_[at].outer == static_cast<std::int32_t>(d);
    if (level > 0 && problem_->domains.named[domain] == 0) continue;
    if (!fails && raw_[d] >= top.subtree_gpus) return false;
    const std::int64_t usable = single ? (fails ? pieces_[at].members : top.members) * top.gpus : raw_[d];
    if (usable <= best) continue;
    best = usable;
    where = domain;
    enough_gpus = raw_[d] >= top.subtree_gpus;
  }
  if (best == 0) where = largest(topology, level, begin, n, where);
  const std::int64_t asked = single ? std::int64_t{top.members} * top.gpus : top.subtree_gpus;
  reason = reason_at(!single && enough_gpus ? ReasonCode::kFragmented : ReasonCode::kTopologyRequired, topology, level, asked,
                     std::max<std::int64_t>(best, 0));
  reason.where = where;
  if (gpus_ > reason.best) reason.free = gpus_;
  if (single && top.gpus > 1) reason.members = top.members;
  if (alone && single && top.segment_size == 0 && !spreads(top) && where >= 0) set(reason, change_for(top, false, topology, level, where));
  return true;
}

// Of `n` domains from `begin` on without free GPUs, the named one where most could become free; `first`: when none
// could.
std::int32_t Shortage::largest(std::int32_t topology, std::int32_t level, std::int32_t begin, std::size_t n, std::int32_t first) {
  raw_.assign(n, 0);
  for (std::int32_t node = 0; node < problem_->n_nodes; ++node) {
    const std::int64_t domain = place(topology, level, node);
    if (!free_.allowed(filter_, node) || (level > 0 && problem_->domains.named[domain] == 0)) continue;
    raw_[static_cast<std::size_t>(domain - begin)] += std::popcount(problem_->node_open[node]);
  }
  const auto most = std::max_element(raw_.begin(), raw_.end());
  return most == raw_.end() || *most == 0 ? first : begin + static_cast<std::int32_t>(most - raw_.begin());
}

// Of a tree of groups all of which must be in one domain: the domain with most free GPUs. Where only a part must be, that part fits
// there by itself, and the evidence is about the whole gang. A demand that is one plain group would fit now: its turn came before
// others gave GPUs up. `free` stays 0 then.
Reason Shortage::joint(std::int32_t demand) {
  const kernel::DemandRow& d = problem_->demands[demand];
  look_at(d);
  Reason reason = reason_at(ReasonCode::kFragmented, 0, -1, d.gpus, gpus_);
  reason.gpu_type = d.gpu_type;
  if (d.exact != 0) return reason;
  reason.free = gpus_;
  for (std::int32_t g = d.group_begin; g < d.group_end; ++g) {
    const GroupRow& group = problem_->groups[g];
    if (group.require_level == kNone || group.subtree_gpus < d.gpus) continue;
    const kernel::TopologyView& f = problem_->topology[group.require_topology];
    const bool nodes = group.require_level == 0;
    const std::int32_t begin = nodes ? 0 : f.level_begin[group.require_level];
    const std::int32_t end = nodes ? problem_->n_nodes : f.level_begin[group.require_level + 1];
    raw_.assign(static_cast<std::size_t>(end - begin), 0);
    for (const Capacity::Row& r : rows_) {
      const std::int64_t at = place(group.require_topology, group.require_level, r.node);
      if (nodes || problem_->domains.named[at] != 0) raw_[static_cast<std::size_t>(at - begin)] += r.gpus;
    }
    const auto most = std::max_element(raw_.begin(), raw_.end());
    reason = reason_at(ReasonCode::kFragmented, group.require_topology, group.require_level, group.subtree_gpus, *most);
    reason.gpu_type = d.gpu_type;
    reason.where = begin + static_cast<std::int32_t>(most - raw_.begin());
    reason.free = gpus_;
    break;
  }
  return reason;
}

// Members that can be placed under segments and spread, in the best required domain.
bool Shortage::spread_out(const GroupRow& group, Reason& reason) {
  const auto most = [&](bool segments) {
    const std::int32_t topology = segments ? group.segment_topology : group.spread_topology;
    const std::int32_t level = segments ? group.segment_level : group.spread_level;
    pieces_.clear();
    for (const Capacity::Row& row : rows_) {
      std::int32_t outer = 0;
      if (group.require_level != kNone) {
        outer = static_cast<std::int32_t>(place(group.require_topology, group.require_level, row.node));
        if (group.require_level > 0 && problem_->domains.named[outer] == 0) continue;
      }
      pieces_.push_back(
          {outer, static_cast<std::int32_t>(place(topology, level, row.node)), free_.members(row, group, Stage::kUntil, end_)});
    }
    std::sort(pieces_.begin(), pieces_.end(),
              [](const Piece& a, const Piece& b) { return a.outer != b.outer ? a.outer < b.outer : a.inner < b.inner; });
    std::int64_t best = 0, here = 0;
    for (std::size_t i = 0, end = 0; i < pieces_.size(); i = end) {
      std::int64_t members = 0;
      for (; end < pieces_.size() && pieces_[end].outer == pieces_[i].outer && pieces_[end].inner == pieces_[i].inner; ++end)
        members += pieces_[end].members;
      if (i > 0 && pieces_[i].outer != pieces_[i - 1].outer) here = 0;
      here += segments ? members / group.segment_size * group.segment_size : std::min<std::int64_t>(group.spread_most, members);
      best = std::max(best, here);
    }
    return best;
  };
  for (const bool segments : {true, false}) {
    if (segments ? group.segment_size == 0 : group.spread_most == 0) continue;
    const std::int64_t best = most(segments);
    if (best >= group.members) continue;
    reason = reason_at(ReasonCode::kFragmented, segments ? group.segment_topology : group.spread_topology,
                       segments ? group.segment_level : group.spread_level, std::int64_t{group.members} * group.gpus, best * group.gpus);
    reason.members = segments ? group.members / group.segment_size : 0;
    reason.free = gpus_;
    return true;
  }
  return false;
}

}  // namespace berth::core
