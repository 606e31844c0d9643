#include "host/core/reasons/infeasible.hpp"

#include <algorithm>
#include <bit>

#include "host/core/base/wide.hpp"

namespace berth::core {
namespace {

using kernel::DemandRow;
using kernel::GroupRow;
using kernel::kNone;

Reason certified(ReasonCode code, std::int32_t level, std::int64_t asked, std::int64_t best) {
  Reason reason;
  reason.code = code;
  reason.certified = true;
  reason.level = static_cast<std::int8_t>(level);
  reason.asked = asked;
  reason.best = best;
  return reason;
}

}  // namespace

void Infeasible::begin(const kernel::ProblemView& problem, const SupplyView& total, const std::uint64_t* lasting_filters) {
  problem_ = &problem;
  lasting_ = lasting_filters;
  total_.begin(problem, total, false);
}

bool Infeasible::may_use(const DemandRow& d, std::int32_t node) const {
  return (lasting_[std::int64_t{d.filter} * problem_->n_words + node / 64] >> (node % 64) & 1) != 0;
}

// Whether `found` holds for a node that the demand allows; they are visited by rank until it does.
template <class Found>
bool Infeasible::any_allowed(const DemandRow& d, const Found& found) const {
  const std::uint64_t* const words = lasting_ + std::int64_t{d.filter} * problem_->n_words;
  for (std::int32_t w = 0; w < problem_->n_words; ++w) {
    for (std::uint64_t left = words[w]; left != 0; left &= left - 1) {
      if (found(w * 64 + std::countr_zero(left))) return true;
    }
  }
  return false;
}

bool Infeasible::possible(const DemandRow& d) const {
  const std::int64_t memory = problem_->type_memory[d.gpu_type];
  if (memory != 0 && problem_->groups[d.group_begin].gpu_memory > memory) return false;
  std::int64_t gpus = 0;
  const auto enough_gpus = [&](std::int32_t node) { return (gpus += total_.row(node).gpus) >= d.gpus; };
  if (d.gpus > 0 && !any_allowed(d, enough_gpus)) return false;
  for (std::int32_t g = d.group_begin; g < d.group_end; ++g) {
    const GroupRow& group = problem_->groups[g];
    std::int64_t members = 0;
    const auto enough_members = [&](std::int32_t node) {
      return (members += total_.members(total_.row(node), group, Stage::kMemory, kNever)) >= group.members;
    };
    if (group.members > 0 && !any_allowed(d, enough_members)) return false;
    if (group.require_level != kNone && !possible_inside(d, group)) return false;
  }
  return true;
}

// Some named domain holds the GPUs of the subtree and some named domain the group's own members: as weak as the certificate.
bool Infeasible::possible_inside(const DemandRow& d, const GroupRow& group) const {
  const kernel::TopologyView& f = problem_->topology[group.require_topology];
  const std::int32_t level = group.require_level;
  const std::int32_t begin = level == 0 ? 0 : f.level_begin[level];
  const std::int32_t end = level == 0 ? problem_->n_nodes : f.level_begin[level + 1];
  bool subtree = false, own = false;
  for (std::int32_t domain = begin; domain < end && !(subtree && own); ++domain) {
    if (level > 0 && problem_->domains.named[domain] == 0) continue;
    const std::int32_t first = level == 0 ? domain : problem_->domains.first[domain];
    const std::int32_t last = level == 0 ? domain + 1 : problem_->domains.last[domain];
    std::int64_t gpus = 0, members = 0;
    for (std::int32_t p = first; p < last; ++p) {
      const std::int32_t node = level == 0 ? p : f.order[p];
      if (!may_use(d, node)) continue;
      gpus += total_.row(node).gpus;
      members += total_.members(total_.row(node), group, Stage::kMemory, kNever);
    }
    subtree = subtree || gpus >= group.subtree_gpus;
    own = own || members >= group.members;
  }
  return subtree && own;
}

// Members that find room, at most `most` in each domain, and a multiple of `unit` in each.
std::int64_t Infeasible::members_apart(const DemandRow& d, const GroupRow& group, std::int32_t topology, std::int32_t level,
                                       std::int64_t most, std::int64_t unit) {
  const kernel::TopologyView& f = problem_->topology[topology];
  const std::int32_t begin = level == 0 ? 0 : f.level_begin[level];
  const std::int32_t end = level == 0 ? problem_->n_nodes : f.level_begin[level + 1];
  members_.assign(static_cast<std::size_t>(end - begin), 0);
  for (std::int32_t node = 0; node < problem_->n_nodes; ++node) {
    if (!may_use(d, node)) continue;
    const std::int32_t domain = level == 0 ? node : f.node_domain[std::int64_t{level} * problem_->n_nodes + node];
    members_[static_cast<std::size_t>(domain - begin)] += total_.members(total_.row(node), group, Stage::kMemory, kNever);
  }
  std::int64_t all = 0;
  for (const std::int64_t here : members_) all += std::min(here, most) / unit * unit;
  return all;
}

bool Infeasible::never_apart(std::int32_t demand) {
  const DemandRow& d = problem_->demands[demand];
  for (std::int32_t g = d.group_begin; g < d.group_end; ++g) {
    const GroupRow& group = problem_->groups[g];
    const std::int64_t m = group.members;
    if (group.spread_most > 0 && members_apart(d, group, group.spread_topology, group.spread_level, group.spread_most, 1) < m) return true;
    if (group.segment_size > 0 && members_apart(d, group, group.segment_topology, group.segment_level, m, group.segment_size) < m)
      return true;
  }
  return false;
}

Reason Infeasible::find(std::int32_t demand) {
  const DemandRow& d = problem_->demands[demand];
  if (possible(d)) return {};
  std::int64_t of_type = 0, allowed = 0;
  bool any = false;
  for (std::int32_t node = 0; node < problem_->n_nodes; ++node) {
    const std::int64_t gpus = total_.row(node).gpus;
    if (problem_->node_type[node] == d.gpu_type) of_type += gpus;
    if (!may_use(d, node)) continue;
    allowed += gpus;
    any = any || gpus > 0;
  }
  Reason reason;
  const std::int64_t memory = problem_->type_memory[d.gpu_type];
  const GroupRow& first = problem_->groups[d.group_begin];
  if (of_type == 0) {
    reason = certified(ReasonCode::kNoGpuType, -1, d.gpus, 0);
  } else if (memory != 0 && first.gpu_memory > memory) {
    reason = certified(ReasonCode::kGpuMemory, -1, first.gpu_memory, memory);
  } else if (of_type < d.gpus) {
    reason = certified(ReasonCode::kInsufficientGpus, -1, d.gpus, of_type);
  } else if (allowed < d.gpus || !any) {
    reason = certified(ReasonCode::kNodeConstraint, -1, d.gpus, allowed);
  }
  for (std::int32_t g = d.group_begin; reason.code == ReasonCode::kNone && g < d.group_end; ++g) {
    if (problem_->groups[g].members > 0) reason = of_group(d, problem_->groups[g]);
  }
  for (std::int32_t g = d.group_begin; reason.code == ReasonCode::kNone && g < d.group_end; ++g) {
    if (problem_->groups[g].require_level != kNone) reason = of_require(d, problem_->groups[g]);
  }
  if (reason.code != ReasonCode::kNone) reason.gpu_type = d.gpu_type;
  return reason;
}

Reason Infeasible::of_group(const DemandRow& d, const GroupRow& group) const {
  std::int64_t largest = 0, pieces = 0, with_cpu = 0, with_memory = 0;
  Capacity::Row most_cpu{-1, 0, -1, 0}, most_memory{-1, 0, 0, -1};
  for (std::int32_t node = 0; node < problem_->n_nodes; ++node) {
    const Capacity::Row row = total_.row(node);
    if (!may_use(d, node) || row.gpus == 0) continue;
    largest = std::max<std::int64_t>(largest, row.gpus);
    if (row.cpu > most_cpu.cpu) most_cpu = row;
    if (row.memory > most_memory.memory) most_memory = row;
    pieces += total_.members(row, group, Stage::kGpus, kNever);
    with_cpu += total_.members(row, group, Stage::kCpu, kNever);
    with_memory += total_.members(row, group, Stage::kMemory, kNever);
  }
  const std::int64_t m = group.members;
  if (group.gpus > largest) return certified(ReasonCode::kTopologyRequired, 0, group.gpus, largest);
  if (pieces < m) {
    Reason reason = certified(ReasonCode::kFragmented, 0, m * group.gpus, pieces * group.gpus);
    reason.members = group.members;
    return reason;
  }
  // One member finds no large enough node, or all of them find too few.
  const auto resource = [m](ReasonCode code, std::int64_t per, std::int64_t fit, std::int64_t most, std::int32_t node) {
    if (fit > 0 || most >= per) {
      Reason all = certified(code, -1, saturating_mul(m, per), saturating_mul(fit, per));
      all.members = static_cast<std::int32_t>(m);
      return all;
    }
    Reason reason = certified(code, 0, per, most);
    reason.where = node;
    return reason;
  };
  if (with_cpu < m) return resource(ReasonCode::kCpu, group.cpu, with_cpu, most_cpu.cpu, most_cpu.node);
  if (with_memory < m) return resource(ReasonCode::kMemory, group.memory, with_memory, most_memory.memory, most_memory.node);
  return {};
}

Reason Infeasible::of_require(const DemandRow& d, const GroupRow& group) {
  const kernel::TopologyView& f = problem_->topology[group.require_topology];
  const std::int32_t level = group.require_level;
  const std::int32_t begin = level == 0 ? 0 : f.level_begin[level];
  const std::int32_t end = level == 0 ? problem_->n_nodes : f.level_begin[level + 1];
  gpus_.assign(static_cast<std::size_t>(end - begin), 0);
  members_ = gpus_;
  for (std::int32_t node = 0; node < problem_->n_nodes; ++node) {
    if (!may_use(d, node)) continue;
    const std::int32_t domain = level == 0 ? node : f.node_domain[std::int64_t{level} * problem_->n_nodes + node];
    if (level > 0 && problem_->domains.named[domain] == 0) continue;
    gpus_[static_cast<std::size_t>(domain - begin)] += total_.row(node).gpus;
    members_[static_cast<std::size_t>(domain - begin)] += total_.members(total_.row(node), group, Stage::kMemory, kNever);
  }
  const auto most = [&](const std::vector<std::int64_t>& of, std::int64_t asked, std::int64_t unit) {
    const auto best = std::max_element(of.begin(), of.end());
    if (best != of.end() && *best * unit >= asked) return Reason{};
    Reason reason = certified(ReasonCode::kTopologyRequired, level, asked, best == of.end() ? 0 : *best * unit);
    reason.topology = static_cast<std::uint8_t>(group.require_topology);
    if (reason.best > 0) reason.where = begin + static_cast<std::int32_t>(best - of.begin());
    return reason;
  };
  const Reason subtree = most(gpus_, group.subtree_gpus, 1);
  if (subtree.code != ReasonCode::kNone) return subtree;
  Reason own = most(members_, std::int64_t{group.members} * group.gpus, group.gpus);
  if (own.code != ReasonCode::kNone && group.gpus > 1) own.members = group.members;
  return own;
}

}  // namespace berth::core
