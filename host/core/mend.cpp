#include "host/core/mend.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "berth/kernel/walk_state.hpp"
#include "host/core/state_impl.hpp"

namespace berth::core {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Domain of a node, or the node itself at level 0.
std::int32_t domain_at(const Topology& t, std::int32_t facet, std::int32_t level, std::int32_t node) {
  return level == 0 ? node : t.domain_of(facet, level, node);
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

bool Mender::place_lost(const StateImpl& s, const kernel::DemandRow& demand, TimeUs end, FinalState& now, bool spares_only) {
  const kernel::ProblemView& p = s.problem();
  const std::uint64_t* filter = p.filter_words + std::int64_t{demand.filter} * p.n_words;
  trial_ = members_;
  for (Member& lost : trial_) {
    if (lost.node >= 0) continue;
    const kernel::GroupRow& row = p.groups[demand.group_begin + lost.row];
    std::tuple<int, std::int32_t, std::int32_t> best{2, 0, 0};  // (0 spare, 1 free), free GPUs, node
    for (std::int32_t n = 0; n < p.n_nodes; ++n) {
      if ((filter[n / 64] >> (n % 64) & 1) == 0) continue;
      const std::uint64_t spare = now.spare()[at(n)];
      const std::uint64_t usable = spare | (spares_only ? 0 : now.free()[at(n)]);
      if (std::popcount(usable) < row.gpus) continue;
      if (now.cpu()[at(n)] < row.cpu || now.memory()[at(n)] < row.memory) continue;
      if (p.node_until[n] != kNever && (end == kNever || end > p.node_until[n])) continue;
      const std::tuple<int, std::int32_t, std::int32_t> key{spare != 0 ? 0 : 1, std::popcount(usable), n};
      if (key < best && allowed(s, demand, lost, n)) best = key;
    }
    if (std::get<0>(best) == 2) {
      // Nothing of this trial stays.
      for (const Member& m : trial_) {
        if (!m.is_new || m.node < 0) continue;
        const kernel::GroupRow& r = p.groups[demand.group_begin + m.row];
        (s.nodes[at(m.node)].state == NodeState::kSpare ? now.spare() : now.free())[at(m.node)] |= m.mask;
        if (now.cpu()[at(m.node)] != kernel::kNoLimit) now.cpu()[at(m.node)] += r.cpu;
        if (now.memory()[at(m.node)] != kernel::kNoLimit) now.memory()[at(m.node)] += r.memory;
      }
      return false;
    }
    const std::int32_t n = std::get<2>(best);
    lost.node = n;
    lost.is_new = true;
    lost.mask = kernel::pick_gpus(p, n, now.spare()[at(n)] | now.free()[at(n)], row.gpus);
    now.spare()[at(n)] &= ~lost.mask;
    now.free()[at(n)] &= ~lost.mask;
    if (now.cpu()[at(n)] != kernel::kNoLimit) now.cpu()[at(n)] -= row.cpu;
    if (now.memory()[at(n)] != kernel::kNoLimit) now.memory()[at(n)] -= row.memory;
  }
  members_ = trial_;
  return true;
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
  const kernel::GroupRow* rows = s.demands.groups().data() + demand->group_begin;
  const std::int32_t n_rows = demand->group_end - demand->group_begin;
  members_.clear();
  for (const PlanEntry& e : record.entries) {
    if (e.share_ppm != kWholeGpu) return false;
    std::int32_t row = 0;
    while (row < n_rows && s.demands.shape_group()[at(demand->group_begin + row)] != e.group) ++row;
    if (row == n_rows) return false;
    std::uint64_t left = e.gpus;
    for (std::int32_t m = 0; m < e.members; ++m) {
      const std::uint64_t mask = kernel::lowest_bits(left, rows[row].gpus);
      left &= ~mask;
      const bool lost = (mask & ~s.node.usable[at(e.node)]) != 0;
      members_.push_back({row, e.member + m, lost ? kernel::kNone : e.node, lost ? 0 : mask, false});
    }
  }
  std::stable_sort(members_.begin(), members_.end(),
                   [](const Member& a, const Member& b) { return std::tie(a.row, a.member) < std::tie(b.row, b.member); });
  const TimeUs run = s.option_run(slot, option);
  const TimeUs end = run == kNever || run > kNever - 1 - s.now ? kNever : s.now + run;
  if (!place_lost(s, *demand, end, now, true) && !place_lost(s, *demand, end, now, false)) return false;
  std::int32_t last_row = -1;
  const std::size_t first = out.size();
  for (const Member& m : members_) {
    const std::int32_t group = s.demands.shape_group()[at(demand->group_begin + m.row)];
    const bool joins = out.size() > first && last_row == m.row && out.back().node == m.node &&
                       out.back().member + out.back().members == m.member &&
                       out.back().gpus < m.mask;  // so that members follow one another by GPU index
    if (joins) {
      out.back().gpus |= m.mask;
      ++out.back().members;
    } else {
      out.push_back({m.node, group, m.member, 1, m.mask, kWholeGpu});
    }
    last_row = m.row;
  }
  return true;
}

}  // namespace berth::core
