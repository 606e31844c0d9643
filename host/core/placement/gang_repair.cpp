#include "host/core/placement/gang_repair.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/place/state.hpp"
#include "host/core/base/end_of.hpp"
#include "host/core/model/held_facts.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

/// Domain of a node, or the node itself at level 0.
std::int32_t domain_at(const Topologies& t, std::int32_t topology, std::int32_t level, std::int32_t node) {
  return level == 0 ? node : t.domain_of(topology, level, node);
}

void charge_cores(FinalState& now, std::int32_t node, const kernel::GroupRow& row, std::int32_t members) {
  if (now.cpu()[to_index(node)] != kernel::kNoLimit) now.cpu()[to_index(node)] += members * row.cpu;
  if (now.memory()[to_index(node)] != kernel::kNoLimit) now.memory()[to_index(node)] += members * row.memory;
}

}  // namespace

void GangRepair::begin(const StateImpl& s, std::span<const std::int32_t> jobs, FinalState& now) {
  const auto n_nodes = static_cast<std::int32_t>(s.nodes.size());
  nodes_.clear();
  for (const std::int32_t job : jobs) {
    for (const kernel::HeldRow& row : s.jobs[to_index(job)].held) nodes_.push_back(row.node);
  }
  for (std::int32_t n = 0; n < n_nodes; ++n) {
    if ((now.free()[to_index(n)] | now.spare()[to_index(n)]) != 0) nodes_.push_back(n);
  }
  std::sort(nodes_.begin(), nodes_.end());
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
}

bool GangRepair::allowed(const StateImpl& s, const kernel::DemandRow& demand, const Member& lost, std::int32_t node) const {
  const kernel::GroupRow* rows = s.demands.groups().data() + demand.group_begin;
  const std::int32_t n_rows = demand.group_end - demand.group_begin;
  // For each group around the member, itself included, that must be in one domain: the place of its other members.
  for (std::int32_t r = 0; r <= lost.row && r < n_rows; ++r) {
    if (rows[r].require_level < 0 || rows[r].subtree_end <= lost.row) continue;
    for (const Member& m : trial_) {
      if (m.node < 0 || m.row < r || m.row >= rows[r].subtree_end) continue;
      const auto topology = rows[r].require_topology;
      const auto level = rows[r].require_level;
      if (domain_at(s.topologies, topology, level, m.node) != domain_at(s.topologies, topology, level, node)) return false;
      break;
    }
    if (rows[r].require_level > 0 &&
        s.topologies.description(domain_at(s.topologies, rows[r].require_topology, rows[r].require_level, node)) == nullptr) {
      return false;
    }
  }
  const kernel::GroupRow& row = rows[lost.row];
  std::int32_t in_domain = 0;
  for (const Member& m : trial_) {
    if (m.node < 0 || m.row != lost.row) continue;
    if (row.spread_most > 0 && domain_at(s.topologies, row.spread_topology, row.spread_level, m.node) ==
                                   domain_at(s.topologies, row.spread_topology, row.spread_level, node)) {
      ++in_domain;
    }
    if (row.segment_size > 0 && m.member / row.segment_size == lost.member / row.segment_size &&
        domain_at(s.topologies, row.segment_topology, row.segment_level, m.node) !=
            domain_at(s.topologies, row.segment_topology, row.segment_level, node)) {
      return false;
    }
  }
  return row.spread_most == 0 || in_domain < row.spread_most;
}

void GangRepair::add_near(const StateImpl& s, std::int32_t begin, std::int32_t end, std::int32_t topology, std::int32_t top,
                          std::vector<Near>& out) const {
  Near near{topology, {}};
  for (std::int32_t l = 0; l <= top; ++l) {
    std::int32_t common = kernel::kNone;
    bool any = false;
    for (const Member& m : trial_) {
      if (m.node < 0 || m.row < begin || m.row >= end) continue;
      const std::int32_t d = domain_at(s.topologies, topology, l, m.node);
      common = !any || d == common ? d : kernel::kNone;
      any = true;
      if (common == kernel::kNone) break;
    }
    if (!any) return;  // no member is placed yet
    near.domain.push_back(common);
  }
  out.push_back(std::move(near));
}

void GangRepair::look_around(const StateImpl& s, const kernel::DemandRow& demand, const Member& lost) {
  const kernel::GroupRow* rows = s.demands.groups().data() + demand.group_begin;
  preferred_.clear();
  base_.clear();
  for (std::int32_t r = 0; r <= lost.row; ++r) {
    if (rows[r].prefer_level < 0 || rows[r].subtree_end <= lost.row) continue;
    add_near(s, r, rows[r].subtree_end, rows[r].prefer_topology, rows[r].prefer_level, preferred_);
  }
  const kernel::GroupRow& own = rows[lost.row];
  const bool requires_level = own.require_level >= 0;
  const std::int32_t topology = requires_level ? own.require_topology : 0;
  add_near(s, lost.row, own.subtree_end, topology, requires_level ? own.require_level : s.topologies.levels(0) - 1, base_);
}

std::int32_t GangRepair::distance(const StateImpl& s, const std::vector<Near>& all, std::int32_t node) {
  std::int32_t sum = 0;
  for (const Near& near : all) {
    for (std::size_t l = 0; l < near.domain.size(); ++l, ++sum) {
      if (near.domain[l] == domain_at(s.topologies, near.topology, static_cast<std::int32_t>(l), node)) break;
    }
  }
  return sum;
}

std::int32_t GangRepair::best_node(const StateImpl& s, const kernel::DemandRow& demand, TimeUs end, FinalState& now, From from,
                                   const Member& lost) {
  const kernel::ProblemView& p = s.problem();
  const std::uint64_t* filter = p.filter_words + std::int64_t{demand.filter} * p.n_words;
  const kernel::GroupRow& row = p.groups[demand.group_begin + lost.row];
  look_around(s, demand, lost);
  // 0 spare, 1 not; distance as preferred; distance; free GPUs; node
  std::tuple<int, std::int32_t, std::int32_t, std::int32_t, std::int32_t> best{2, 0, 0, 0, kernel::kNone};
  for (const std::int32_t n : nodes_) {
    if ((filter[n / 64] >> (n % 64) & 1) == 0) continue;
    const std::uint64_t spare = now.spare()[to_index(n)];
    const std::uint64_t usable = spare | (from == From::kSpares ? 0 : now.free()[to_index(n)]);
    if (std::popcount(usable) < row.gpus) continue;
    if (now.cpu()[to_index(n)] < row.cpu || now.memory()[to_index(n)] < row.memory) continue;
    if (p.node_until[n] != kNever && (end == kNever || end > p.node_until[n])) continue;
    const std::tuple key{spare != 0 ? 0 : 1, distance(s, preferred_, n), distance(s, base_, n),
                         static_cast<std::int32_t>(std::popcount(usable)), n};
    if (key < best && allowed(s, demand, lost, n)) best = key;
  }
  return std::get<4>(best);
}

void GangRepair::give_back(const StateImpl& s, const kernel::DemandRow& demand, FinalState& now, const Member& placed) {
  (s.nodes[to_index(placed.node)].state == NodeState::kSpare ? now.spare() : now.free())[to_index(placed.node)] |= placed.mask;
  charge_cores(now, placed.node, s.demands.groups()[to_index(demand.group_begin + placed.row)], 1);
}

// A group may drop members beyond the requested number; with segments, only whole ones.
bool GangRepair::drop(const StateImpl& s, const kernel::DemandRow& demand, FinalState& now, const Member& lost) {
  const std::int32_t size = std::max(1, s.demands.groups()[to_index(demand.group_begin + lost.row)].segment_size);
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
  if (stay < least_[to_index(row)]) return false;
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

bool GangRepair::place_lost(const StateImpl& s, const kernel::DemandRow& demand, TimeUs end, FinalState& now, From from) {
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
    lost.mask = kernel::pick_gpus(p, n, now.spare()[to_index(n)] | now.free()[to_index(n)], row.gpus);
    assert(std::popcount(lost.mask & (now.spare()[to_index(n)] | now.free()[to_index(n)])) == row.gpus);
    now.spare()[to_index(n)] &= ~lost.mask;
    now.free()[to_index(n)] &= ~lost.mask;
    charge_cores(now, n, row, -1);
  }
  return true;
}

void GangRepair::undo(const StateImpl& s, const kernel::DemandRow& demand, FinalState& now) {
  for (const Member& m : trial_) {
    if (m.is_new && m.node >= 0) give_back(s, demand, now, m);
  }
}

bool GangRepair::read_members(const StateImpl& s, const JobRecord& record, const kernel::DemandRow& demand, const Shape& shape) {
  const kernel::GroupRow* rows = s.demands.groups().data() + demand.group_begin;
  const std::int32_t n_rows = demand.group_end - demand.group_begin;
  members_.clear();
  lost_.clear();
  for (const PlanEntry& e : record.entries) {
    if (e.share_ppm != kWholeGpu) return false;
    std::int32_t row = 0;
    while (row < n_rows && s.demands.shape_group()[to_index(demand.group_begin + row)] != e.group) ++row;
    if (row == n_rows) return false;
    std::uint64_t left = e.gpus;
    for (std::int32_t m = 0; m < e.members; ++m) {
      const std::uint64_t mask = kernel::lowest_bits(left, rows[row].gpus);
      left &= ~mask;
      const bool lost = (mask & ~s.node.usable[to_index(e.node)]) != 0;
      members_.push_back({row, e.member + m, lost ? kernel::kNone : e.node, lost ? 0 : mask, false, false});
      if (lost) lost_.push_back({row, e.node, mask});
    }
  }
  std::stable_sort(members_.begin(), members_.end(),
                   [](const Member& a, const Member& b) { return std::tie(a.row, a.member) < std::tie(b.row, b.member); });
  least_.assign(to_index(n_rows), 0);
  for (Member& m : members_) m.member = least_[to_index(m.row)]++;
  for (std::int32_t r = 0; r < n_rows; ++r) {
    least_[to_index(r)] =
        std::min(least_[to_index(r)], group_facts(shape, s.demands.shape_group()[to_index(demand.group_begin + r)]).wanted);
  }
  return true;
}

void GangRepair::append_entries(const StateImpl& s, const kernel::DemandRow& demand, std::vector<PlanEntry>& out) const {
  std::int32_t last_row = -1, next = 0;
  const std::size_t first = out.size();
  for (const Member& m : trial_) {
    if (m.dropped) continue;
    assert(m.node >= 0);
    if (last_row != m.row) next = 0;
    const bool joins = out.size() > first && last_row == m.row && out.back().node == m.node &&
                       out.back().gpus < m.mask;  // so that members follow each other by GPU index
    if (joins) {
      out.back().gpus |= m.mask;
      ++out.back().members;
    } else {
      out.push_back({m.node, s.demands.shape_group()[to_index(demand.group_begin + m.row)], next, 1, m.mask, kWholeGpu});
    }
    last_row = m.row;
    ++next;
  }
}

std::int64_t repaired_rate(const StateImpl& s, std::int32_t job, std::span<const PlanEntry> gang) {
  const std::int64_t placed = placed_rate(s, *s.jobs[to_index(job)].job, s.job.shape[to_index(job)], gang);
  return placed > 0 ? placed : s.job.rate[to_index(job)];
}

// Fewer members, or members farther apart, may run longer than predicted.
bool GangRepair::outstays(const StateImpl& s, std::int32_t job, std::span<const PlanEntry> gang) const {
  const kernel::ProblemView& p = s.problem();
  if (p.has_until == 0) return false;
  const TimeUs end = end_of(s.now, s.run_or_limit(job, repaired_rate(s, job, gang)));
  return std::any_of(trial_.begin(), trial_.end(), [&](const Member& m) { return m.is_new && !kernel::stays_open(p, m.node, end); });
}

bool GangRepair::repair(const StateImpl& s, std::int32_t job, FinalState& now, std::vector<PlanEntry>& out) {
  assert(s.job.running[to_index(job)] != 0 && s.lost_gpus(job));
  const JobRecord& record = s.jobs[to_index(job)];
  const std::int32_t shape = s.job.shape[to_index(job)];
  // The demand of the shape in which the job runs, in its largest form first.
  const kernel::DemandRow* demand = nullptr;
  std::size_t option = 0;
  for (std::size_t o = 0; o < record.options.size() && demand == nullptr; ++o) {
    const kernel::DemandRow& d = s.demands.rows()[to_index(record.options[o].demand)];
    if (record.options[o].shape != shape || d.gpu_type != s.job.held_type[to_index(job)]) continue;
    demand = &d;
    option = o;
  }
  if (demand == nullptr) return false;
  const kernel::ProblemView& p = s.problem();
  const Shape& described = record.job->shapes[to_index(shape)];
  if (!read_members(s, record, *demand, described)) return false;
  // The lost members' GPUs become free if they work and their nodes are open.
  for (const Lost& l : lost_) {
    now.free()[to_index(l.node)] |= l.mask & p.node_open[l.node];
    charge_cores(now, l.node, p.groups[demand->group_begin + l.row], 1);
  }
  const TimeUs end = end_of(s.now, s.option_run(job, option));
  bool repaired = place_lost(s, *demand, end, now, From::kSpares) || place_lost(s, *demand, end, now, From::kAll) ||
                  place_lost(s, *demand, end, now, From::kAllOrDrop);
  const std::size_t first = out.size();
  if (repaired) {
    append_entries(s, *demand, out);
    // Survivors may be at places that the description no longer allows: then the gang cannot be kept.
    const core::ClusterFacts& facts = s.facts();
    std::vector<std::string> why;
    Violations found(why, 1);
    gang_.check(facts, *record.job, described, std::span<const PlanEntry>(out).subspan(first), facts.held(facts.job(job)), found);
    repaired = why.empty() && !outstays(s, job, std::span<const PlanEntry>(out).subspan(first));
    if (!repaired) undo(s, *demand, now);
  }
  if (!repaired) {
    out.resize(first);
    for (const Lost& l : lost_) {
      now.free()[to_index(l.node)] &= ~l.mask;
      charge_cores(now, l.node, p.groups[demand->group_begin + l.row], -1);
    }
    return false;
  }
  std::int64_t dropped = 0;
  for (const Member& m : trial_) {
    const kernel::GroupRow& row = p.groups[demand->group_begin + m.row];
    if (m.dropped) dropped += std::int64_t{row.gpus} * row.share_ppm;
  }
  now.charge_queue(job, demand->gpu_type, -dropped);
  return true;
}

}  // namespace berth::core
