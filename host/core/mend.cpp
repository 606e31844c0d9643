#include "host/core/mend.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "berth/kernel/walk_state.hpp"
#include "host/core/at.hpp"
#include "host/core/held_facts.hpp"
#include "host/core/state_impl.hpp"

namespace berth::core {
namespace {

/// Domain of a node, or the node itself at level 0.
std::int32_t domain_at(const Topology& t, std::int32_t facet, std::int32_t level, std::int32_t node) {
  return level == 0 ? node : t.domain_of(facet, level, node);
}

void charge_cores(FinalState& now, std::int32_t node, const kernel::GroupRow& row, std::int32_t members) {
  if (now.cpu()[at(node)] != kernel::kNoLimit) now.cpu()[at(node)] += members * row.cpu;
  if (now.memory()[at(node)] != kernel::kNoLimit) now.memory()[at(node)] += members * row.memory;
}

}  // namespace

bool Mender::allowed(const StateImpl& s, const kernel::DemandRow& demand, const Member& lost, std::int32_t node) const {
  const kernel::GroupRow* rows = s.demands.groups().data() + demand.group_begin;
  const std::int32_t n_rows = demand.group_end - demand.group_begin;
  // Each group around the member, itself included, that must lie in one domain: where its other members are.
  for (std::int32_t r = 0; r <= lost.row && r < n_rows; ++r) {
    if (rows[r].require_level < 0 || rows[r].subtree_end <= lost.row) continue;
    for (const Member& m : trial_) {
      if (m.node < 0 || m.row < r || m.row >= rows[r].subtree_end) continue;
      const auto facet = rows[r].require_facet;
      const auto level = rows[r].require_level;
      if (domain_at(s.topology, facet, level, m.node) != domain_at(s.topology, facet, level, node)) return false;
      break;
    }
    if (rows[r].require_level > 0 &&
        s.topology.description(domain_at(s.topology, rows[r].require_facet, rows[r].require_level, node)) == nullptr) {
      return false;
    }
  }
  const kernel::GroupRow& row = rows[lost.row];
  std::int32_t beside = 0;
  for (const Member& m : trial_) {
    if (m.node < 0 || m.row != lost.row) continue;
    if (row.spread_most > 0 && domain_at(s.topology, row.spread_facet, row.spread_level, m.node) ==
                                   domain_at(s.topology, row.spread_facet, row.spread_level, node)) {
      ++beside;
    }
    if (row.segment_size > 0 && m.member / row.segment_size == lost.member / row.segment_size &&
        domain_at(s.topology, row.segment_facet, row.segment_level, m.node) !=
            domain_at(s.topology, row.segment_facet, row.segment_level, node)) {
      return false;
    }
  }
  return row.spread_most == 0 || beside < row.spread_most;
}

void Mender::add_near(const StateImpl& s, std::int32_t begin, std::int32_t end, std::int32_t facet, std::int32_t top,
                      std::vector<Near>& out) const {
  Near near{facet, {}};
  for (std::int32_t l = 0; l <= top; ++l) {
    std::int32_t common = kernel::kNone;
    bool any = false;
    for (const Member& m : trial_) {
      if (m.node < 0 || m.row < begin || m.row >= end) continue;
      const std::int32_t d = domain_at(s.topology, facet, l, m.node);
      common = !any || d == common ? d : kernel::kNone;
      any = true;
      if (common == kernel::kNone) break;
    }
    if (!any) return;  // nobody is there yet to be near to
    near.domain.push_back(common);
  }
  out.push_back(std::move(near));
}

void Mender::look_around(const StateImpl& s, const kernel::DemandRow& demand, const Member& lost) {
  const kernel::GroupRow* rows = s.demands.groups().data() + demand.group_begin;
  preferred_.clear();
  base_.clear();
  for (std::int32_t r = 0; r <= lost.row; ++r) {
    if (rows[r].prefer_level < 0 || rows[r].subtree_end <= lost.row) continue;
    add_near(s, r, rows[r].subtree_end, rows[r].prefer_facet, rows[r].prefer_level, preferred_);
  }
  const kernel::GroupRow& own = rows[lost.row];
  const bool requires_level = own.require_level >= 0;
  const std::int32_t facet = requires_level ? own.require_facet : 0;
  add_near(s, lost.row, own.subtree_end, facet, requires_level ? own.require_level : s.topology.levels(0) - 1, base_);
}

std::int32_t Mender::distance(const StateImpl& s, const std::vector<Near>& all, std::int32_t node) {
  std::int32_t sum = 0;
  for (const Near& near : all) {
    for (std::size_t l = 0; l < near.domain.size(); ++l, ++sum) {
      if (near.domain[l] == domain_at(s.topology, near.facet, static_cast<std::int32_t>(l), node)) break;
    }
  }
  return sum;
}

std::int32_t Mender::best_node(const StateImpl& s, const kernel::DemandRow& demand, TimeUs end, FinalState& now, From from,
                               const Member& lost) {
  const kernel::ProblemView& p = s.problem();
  const std::uint64_t* filter = p.filter_words + std::int64_t{demand.filter} * p.n_words;
  const kernel::GroupRow& row = p.groups[demand.group_begin + lost.row];
  look_around(s, demand, lost);
  // 0 spare, 1 not; distance as preferred; distance; free GPUs; node
  std::tuple<int, std::int32_t, std::int32_t, std::int32_t, std::int32_t> best{2, 0, 0, 0, kernel::kNone};
  for (std::int32_t n = 0; n < p.n_nodes; ++n) {
    if ((filter[n / 64] >> (n % 64) & 1) == 0) continue;
    const std::uint64_t spare = now.spare()[at(n)];
    const std::uint64_t usable = spare | (from == From::kSpares ? 0 : now.free()[at(n)]);
    if (std::popcount(usable) < row.gpus) continue;
    if (now.cpu()[at(n)] < row.cpu || now.memory()[at(n)] < row.memory) continue;
    if (p.node_until[n] != kNever && (end == kNever || end > p.node_until[n])) continue;
    const std::tuple key{spare != 0 ? 0 : 1, distance(s, preferred_, n), distance(s, base_, n),
                         static_cast<std::int32_t>(std::popcount(usable)), n};
    if (key < best && allowed(s, demand, lost, n)) best = key;
  }
  return std::get<4>(best);
}

void Mender::give_back(const StateImpl& s, const kernel::DemandRow& demand, FinalState& now, const Member& placed) {
  (s.nodes[at(placed.node)].state == NodeState::kSpare ? now.spare() : now.free())[at(placed.node)] |= placed.mask;
  charge_cores(now, placed.node, s.demands.groups()[at(demand.group_begin + placed.row)], 1);
}

// A group may do without members beyond those it wants; of segments, only without whole ones.
bool Mender::drop(const StateImpl& s, const kernel::DemandRow& demand, FinalState& now, const Member& lost) {
  const std::int32_t size = std::max(1, s.demands.groups()[at(demand.group_begin + lost.row)].segment_size);
  const std::int32_t row = lost.row, segment = lost.member / size;
  std::int32_t stay = 0;
  for (const Member& m : trial_) {
    if (m.row != row || m.dropped) continue;
    if (m.member / size != segment) {
      ++stay;
    } else if (m.node >= 0 && !m.is_new) {
      return false;
    }
  }
  if (stay < least_[at(row)]) return false;
  for (Member& m : trial_) {
    if (m.row != row || m.member / size != segment) continue;
    if (m.node >= 0) give_back(s, demand, now, m);
    m.node = kernel::kNone;
    m.mask = 0;
    m.is_new = false;
    m.dropped = true;
  }
  return true;
}

bool Mender::place_lost(const StateImpl& s, const kernel::DemandRow& demand, TimeUs end, FinalState& now, From from) {
  const kernel::ProblemView& p = s.problem();
  trial_ = members_;
  for (Member& lost : trial_) {
    if (lost.node >= 0 || lost.dropped) continue;
    const std::int32_t n = best_node(s, demand, end, now, from, lost);
    if (n < 0) {
      if (from == From::kAllOrDrop && drop(s, demand, now, lost)) continue;
      undo(s, demand, now);
      return false;
    }
    const kernel::GroupRow& row = p.groups[demand.group_begin + lost.row];
    lost.node = n;
    lost.is_new = true;
    lost.mask = kernel::pick_gpus(p, n, now.spare()[at(n)] | now.free()[at(n)], row.gpus);
    now.spare()[at(n)] &= ~lost.mask;
    now.free()[at(n)] &= ~lost.mask;
    charge_cores(now, n, row, -1);
  }
  return true;
}

void Mender::undo(const StateImpl& s, const kernel::DemandRow& demand, FinalState& now) {
  for (const Member& m : trial_) {
    if (m.is_new && m.node >= 0) give_back(s, demand, now, m);
  }
}

bool Mender::read_members(const StateImpl& s, const JobRecord& record, const kernel::DemandRow& demand, const Shape& shape) {
  const kernel::GroupRow* rows = s.demands.groups().data() + demand.group_begin;
  const std::int32_t n_rows = demand.group_end - demand.group_begin;
  members_.clear();
  lost_.clear();
  for (const PlanEntry& e : record.entries) {
    if (e.share_ppm != kWholeGpu) return false;
    std::int32_t row = 0;
    while (row < n_rows && s.demands.shape_group()[at(demand.group_begin + row)] != e.group) ++row;
    if (row == n_rows) return false;
    std::uint64_t left = e.gpus;
    for (std::int32_t m = 0; m < e.members; ++m) {
      const std::uint64_t mask = kernel::lowest_bits(left, rows[row].gpus);
      left &= ~mask;
      const bool lost = (mask & ~s.node.usable[at(e.node)]) != 0;
      members_.push_back({row, e.member + m, lost ? kernel::kNone : e.node, lost ? 0 : mask, false, false});
      if (lost) lost_.push_back({row, e.node, mask});
    }
  }
  std::stable_sort(members_.begin(), members_.end(),
                   [](const Member& a, const Member& b) { return std::tie(a.row, a.member) < std::tie(b.row, b.member); });
  least_.assign(at(n_rows), 0);
  for (Member& m : members_) m.member = least_[at(m.row)]++;
  for (std::int32_t r = 0; r < n_rows; ++r) {
    least_[at(r)] = std::min(least_[at(r)], group_facts(shape, s.demands.shape_group()[at(demand.group_begin + r)]).wanted);
  }
  return true;
}

void Mender::append_entries(const StateImpl& s, const kernel::DemandRow& demand, std::vector<PlanEntry>& out) const {
  std::int32_t last_row = -1, next = 0;
  const std::size_t first = out.size();
  for (const Member& m : trial_) {
    if (m.dropped) continue;
    if (last_row != m.row) next = 0;
    const bool joins = out.size() > first && last_row == m.row && out.back().node == m.node &&
                       out.back().gpus < m.mask;  // so that members follow one another by GPU index
    if (joins) {
      out.back().gpus |= m.mask;
      ++out.back().members;
    } else {
      out.push_back({m.node, s.demands.shape_group()[at(demand.group_begin + m.row)], next, 1, m.mask, kWholeGpu});
    }
    last_row = m.row;
    ++next;
  }
}

bool Mender::mend(const StateImpl& s, std::int32_t slot, FinalState& now, std::vector<PlanEntry>& out) {
  const JobRecord& record = s.jobs[at(slot)];
  const std::int32_t shape = s.job.shape[at(slot)];
  // The demand of the shape in which the job runs, in its largest form first.
  const kernel::DemandRow* demand = nullptr;
  std::size_t option = 0;
  for (std::size_t o = 0; o < record.options.size() && demand == nullptr; ++o) {
    const kernel::DemandRow& d = s.demands.rows()[at(record.options[o].demand)];
    if (record.options[o].shape != shape || d.gpu_type != s.job.held_type[at(slot)]) continue;
    demand = &d;
    option = o;
  }
  if (demand == nullptr) return false;
  const kernel::ProblemView& p = s.problem();
  const Shape& described = record.job->shapes[at(shape)];
  if (!read_members(s, record, *demand, described)) return false;
  // What lost members held is theirs no more; the GPUs that work, of nodes that take anyone.
  for (const Lost& l : lost_) {
    now.free()[at(l.node)] |= l.mask & p.node_open[l.node];
    charge_cores(now, l.node, p.groups[demand->group_begin + l.row], 1);
  }
  const TimeUs run = s.option_run(slot, option);
  const TimeUs end = run == kNever || run > kNever - 1 - s.now ? kNever : s.now + run;
  bool mended = place_lost(s, *demand, end, now, From::kSpares) || place_lost(s, *demand, end, now, From::kAll) ||
                place_lost(s, *demand, end, now, From::kAllOrDrop);
  const std::size_t first = out.size();
  if (mended) {
    append_entries(s, *demand, out);
    // Survivors may lie where the description no longer lets them: then there is nothing to keep.
    const core::ClusterFacts& facts = s.facts();
    std::vector<std::string> why;
    Violations found(why, 1);
    gang_.check(facts, *record.job, described, std::span<const PlanEntry>(out).subspan(first), facts.held(facts.job(slot)), found);
    mended = why.empty();
    if (!mended) undo(s, *demand, now);
  }
  if (!mended) {
    out.resize(first);
    for (const Lost& l : lost_) {
      now.free()[at(l.node)] &= ~l.mask;
      charge_cores(now, l.node, p.groups[demand->group_begin + l.row], -1);
    }
    return false;
  }
  std::int64_t dropped = 0;
  for (const Member& m : trial_) {
    const kernel::GroupRow& row = p.groups[demand->group_begin + m.row];
    if (m.dropped) dropped += std::int64_t{row.gpus} * row.share_ppm;
  }
  now.charge_queue(slot, demand->gpu_type, -dropped);
  return true;
}

}  // namespace berth::core
