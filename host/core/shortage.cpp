#include "host/core/shortage.hpp"

#include <algorithm>
#include <bit>

#include "host/core/wide.hpp"

namespace berth::core {
namespace {

using kernel::GroupRow;
using kernel::kNone;

bool plain(const GroupRow& g) { return g.require_level == kNone && g.segment_size == 0 && g.spread_most == 0; }

Reason reason_at(ReasonCode code, std::int32_t facet, std::int32_t level, std::int64_t asked, std::int64_t best) {
  Reason reason;
  reason.code = code;
  reason.facet = static_cast<std::uint8_t>(facet);
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
  total_ = total;
  free_.begin(problem, free, true);
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
      // All on one node: where most of it is free says more than a sum.
      reason = of_pieces(groups[0], count(groups[0]), true);
      reason.code = code;
      reason.free = 0;
    } else {
      reason = reason_at(code, 0, -1, d.gpus, gpus_);
      if (of_type_ > gpus_) reason.free = of_type_;
      if (alone && plain(groups[0])) {
        const Counts counts = count(groups[0]);
        if (counts.at[4] == counts.at[0] && all_stay()) reason.missing = (groups[0].members - counts.at[0]) * groups[0].gpus;
        if (groups[0].gpus > 1) reason.pieces = groups[0].members;
      }
    }
    reason.gpu_type = d.gpu_type;
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
  if (reason.code != ReasonCode::kNone) reason.gpu_type = d.gpu_type;
  return reason;
}

// No node that the filter lets through leaves before the job ends: then it does not matter where GPUs become free.
bool Shortage::all_stay() const {
  for (std::int32_t node = 0; problem_->has_until != 0 && node < problem_->n_nodes; ++node) {
    const TimeUs until = problem_->node_until[node];
    if (until != kNever && (end_ == kNever || end_ > until) && free_.allowed(filter_, node)) return false;
  }
  return true;
}

// Empty nodes that stay long enough have the GPUs for all members.
bool Shortage::could_hold(const GroupRow& group) const {
  std::int64_t members = 0;
  for (std::int32_t node = 0; node < problem_->n_nodes && members < group.members; ++node) {
    const TimeUs until = problem_->node_until[node];
    const bool stays = until == kNever || (end_ != kNever && end_ <= until);
    if (stays && free_.allowed(filter_, node)) members += std::popcount(total_.free[node]) / group.gpus;
  }
  return members >= group.members;
}

// Counting ends where the group fits, which is all that matters then.
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
    reason.missing = alone && counts.at[4] == counts.at[0] && all_stay() ? m - counts.at[0] : 0;
    return reason;
  }
  if (counts.at[0] < m) {
    Reason reason = reason_at(ReasonCode::kFragmented, 0, 0, m * group.gpus, counts.at[0] * group.gpus);
    reason.pieces = group.members;
    reason.free = gpus_;
    if (m == 1) {  // then the evidence is the node with most
      reason.best = 0;
      for (const Capacity::Row& row : rows_) {
        if (row.gpus <= reason.best) continue;
        reason.best = row.gpus;
        reason.where = row.node;
      }
    }
    if (!alone || counts.at[4] != counts.at[0]) return reason;
    if (counts.at[4] != m - 1) {
      if (all_stay() && could_hold(group)) reason.missing = (m - counts.at[0]) * group.gpus;
      return reason;
    }
    // One member lacks: the node that needs the fewest more GPUs, has the rest already, and could ever hold them.
    std::int32_t most = 0, nearest = kNone;
    for (const Capacity::Row& row : rows_) {
      const std::int32_t left = row.gpus % group.gpus;
      const std::int64_t then = row.gpus / group.gpus + 1;
      const bool room = (group.cpu == 0 || row.cpu / group.cpu >= then) && (group.memory == 0 || row.memory / group.memory >= then) &&
                        std::popcount(total_.free[row.node]) >= then * group.gpus;
      const TimeUs until = problem_->node_until[row.node];
      const bool stays = until == kNever || (end_ != kNever && end_ <= until);
      if (left <= most || !room || !stays) continue;
      most = left;
      nearest = row.node;
    }
    if (nearest == kNone) {
      if (all_stay() && could_hold(group)) reason.missing = group.gpus;
      return reason;
    }
    reason.where = nearest;
    reason.missing = group.gpus - most;
    if (m == 1) reason.best = most;
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
  if (m > 1) {  // several members: what all of them need together, in pieces that fit beside GPUs
    reason.level = -1;
    reason.pieces = group.members;
    reason.asked = saturating_mul(m, per);
    reason.best = saturating_mul(have, per);
    return reason;
  }
  for (const Capacity::Row& row : rows_) {
    if (free_.members(row, group, cpu ? Stage::kGpuMemory : Stage::kCpu, end_) == 0) continue;
    const std::int64_t has = cpu ? row.cpu : row.memory;
    if (reason.where >= 0 && has <= reason.best) continue;
    reason.where = row.node;
    reason.best = has;
  }
  if (alone && reason.where >= 0) reason.missing = per - reason.best;
  return reason;
}

std::int64_t Shortage::place(std::int32_t facet, std::int32_t level, std::int32_t node) const {
  if (level == 0) return node;
  const kernel::FacetView& f = problem_->facet[facet];
  return f.node_domain[std::int64_t{level} * problem_->n_nodes + node];
}

std::int64_t Shortage::total_gpus(std::int32_t facet, std::int32_t level, std::int32_t where, std::int32_t filter) const {
  if (level == 0) return std::popcount(total_.free[where]);
  std::int64_t gpus = 0;
  for (std::int32_t p = problem_->domains.first[where]; p < problem_->domains.last[where]; ++p) {
    const std::int32_t node = problem_->facet[facet].order[p];
    if (free_.allowed(filter, node)) gpus += std::popcount(total_.free[node]);
  }
  return gpus;
}

// No named domain of the required level holds the subtree of `row`: evidence is the domain that holds most of it.
bool Shortage::required(const GroupRow* rows, std::int32_t row, bool alone, Reason& reason) {
  const GroupRow& top = rows[row];
  const std::int32_t facet = top.require_facet, level = top.require_level;
  const kernel::FacetView& f = problem_->facet[facet];
  const std::int32_t begin = level == 0 ? 0 : f.level_begin[level];
  const std::int32_t end = level == 0 ? problem_->n_nodes : f.level_begin[level + 1];
  const auto n = static_cast<std::size_t>(end - begin);
  raw_.assign(n, 0);
  for (const Capacity::Row& r : rows_) raw_[static_cast<std::size_t>(place(facet, level, r.node) - begin)] += r.gpus;

  const bool single = top.subtree_end == row + 1;
  std::vector<std::int64_t>& fits = least_;  // a row of the subtree at a time: members the domain holds, then GPUs it misses
  std::int64_t best = -1;
  std::int32_t where = -1;
  bool enough_gpus = false;
  pieces_.clear();
  for (std::int32_t i = row; i < top.subtree_end; ++i) {
    if (rows[i].members == 0) continue;
    fits.assign(n, 0);
    for (const Capacity::Row& r : rows_) {
      fits[static_cast<std::size_t>(place(facet, level, r.node) - begin)] += free_.members(r, rows[i], Stage::kUntil, end_);
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
  const std::int64_t asked = single ? std::int64_t{top.members} * top.gpus : top.subtree_gpus;
  reason = reason_at(!single && enough_gpus ? ReasonCode::kFragmented : ReasonCode::kTopologyRequired, facet, level, asked,
                     std::max<std::int64_t>(best, 0));
  reason.where = where;
  if (gpus_ > reason.best) reason.free = gpus_;
  if (single && top.gpus > 1) reason.pieces = top.members;
  const bool simple = alone && single && top.segment_size == 0 && top.spread_most == 0;
  if (simple && where >= 0 && total_gpus(facet, level, where, filter_) >= asked) reason.missing = asked - best;
  return true;
}

// Of a tree of groups: the domain with most free GPUs among those in one of which the first group with a `require` must be. A
// demand that is one plain group would fit now: its turn came before others gave GPUs up. `free` stays 0 then.
Reason Shortage::joint(std::int32_t demand) {
  const kernel::DemandRow& d = problem_->demands[demand];
  look_at(d);
  Reason reason = reason_at(ReasonCode::kFragmented, 0, -1, d.gpus, gpus_);
  reason.gpu_type = d.gpu_type;
  if (d.exact != 0) return reason;
  reason.free = gpus_;
  for (std::int32_t g = d.group_begin; g < d.group_end; ++g) {
    const GroupRow& group = problem_->groups[g];
    if (group.require_level == kNone) continue;
    const kernel::FacetView& f = problem_->facet[group.require_facet];
    const bool nodes = group.require_level == 0;
    const std::int32_t begin = nodes ? 0 : f.level_begin[group.require_level];
    const std::int32_t end = nodes ? problem_->n_nodes : f.level_begin[group.require_level + 1];
    raw_.assign(static_cast<std::size_t>(end - begin), 0);
    for (const Capacity::Row& r : rows_) {
      const std::int64_t at = place(group.require_facet, group.require_level, r.node);
      if (nodes || problem_->domains.named[at] != 0) raw_[static_cast<std::size_t>(at - begin)] += r.gpus;
    }
    const auto most = std::max_element(raw_.begin(), raw_.end());
    reason = reason_at(ReasonCode::kFragmented, group.require_facet, group.require_level, group.subtree_gpus, *most);
    reason.gpu_type = d.gpu_type;
    reason.where = begin + static_cast<std::int32_t>(most - raw_.begin());
    reason.free = gpus_;
    break;
  }
  return reason;
}

// Members that segments and spread leave, in the best required domain.
bool Shortage::spread_out(const GroupRow& group, Reason& reason) {
  const auto most = [&](bool segments) {
    const std::int32_t facet = segments ? group.segment_facet : group.spread_facet;
    const std::int32_t level = segments ? group.segment_level : group.spread_level;
    pieces_.clear();
    for (const Capacity::Row& row : rows_) {
      std::int32_t outer = 0;
      if (group.require_level != kNone) {
        outer = static_cast<std::int32_t>(place(group.require_facet, group.require_level, row.node));
        if (group.require_level > 0 && problem_->domains.named[outer] == 0) continue;
      }
      pieces_.push_back({outer, static_cast<std::int32_t>(place(facet, level, row.node)), free_.members(row, group, Stage::kUntil, end_)});
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
    reason = reason_at(ReasonCode::kFragmented, segments ? group.segment_facet : group.spread_facet,
                       segments ? group.segment_level : group.spread_level, std::int64_t{group.members} * group.gpus, best * group.gpus);
    reason.pieces = segments ? group.members / group.segment_size : 0;
    reason.free = gpus_;
    return true;
  }
  return false;
}

}  // namespace berth::core
