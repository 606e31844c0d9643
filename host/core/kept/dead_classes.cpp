#include "host/core/kept/dead_classes.hpp"

#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/place/group.hpp"

namespace berth::core {
namespace {

// All members on one node.
bool on_one_node(const kernel::GroupRow& row) { return row.require_level == 0; }

std::int64_t parts(std::int64_t free, std::int64_t more, std::int64_t needed) {
  return free == kernel::kNoLimit || needed <= 0 ? INT64_MAX : std::max<std::int64_t>(0, free + more) / needed;
}

std::int64_t parts_begun(std::int64_t more, std::int64_t needed) { return needed <= 0 ? 0 : (more + needed - 1) / needed; }

}  // namespace

void DeadClasses::Growth::end_node() {
  Node& node = nodes_.back();
  node.end = victims_.size();
  std::sort(victims_.begin() + static_cast<std::ptrdiff_t>(node.begin), victims_.end(),
            [](const Victims& a, const Victims& b) { return b.place < a.place; });
  for (std::size_t i = node.begin + 1; i < node.end; ++i) {
    victims_[i].gpus += victims_[i - 1].gpus;
    victims_[i].cpu += victims_[i - 1].cpu;
    victims_[i].memory += victims_[i - 1].memory;
  }
}

void DeadClasses::Growth::clear() {
  nodes_.clear();
  victims_.clear();
  quota_.clear();
  of_kind_.clear();
  steps_.clear();
}

DeadClasses::Growth& DeadClasses::grow() {
  if (growths_.size() == to_index(n_growths_)) growths_.emplace_back();
  Growth& growth = growths_[to_index(n_growths_++)];
  growth.clear();
  return growth;
}

bool DeadClasses::stays_dead(const kernel::ProblemView& p, const kernel::PassState& s, const WaitingClasses& waiting, std::size_t of) {
  Dead& dead = dead_[of];
  std::int64_t missing = dead.missing;
  for (std::int64_t i = dead.seen - first_; i < n_growths_; ++i) {
    Growth& growth = growths_[to_index(i)];
    if (missing != kOnlyQuota && !growth.nodes_.empty()) {
      std::int64_t most = 0;
      for (const std::int32_t d : waiting.demands(of)) most = std::max(most, room(p, s, growth, dead.place, d));
      missing -= most;
    }
    if (missing <= 0) return false;
    if (!dead.by_quota || growth.quota_.empty()) continue;
    for (std::int32_t q = waiting.queue(of); q >= 0; q = p.queue_parent[q]) {
      if (growth.quota_[to_index(q)] != 0) return false;
    }
  }
  dead.missing = missing;
  dead.seen = seen_all();
  return true;
}

std::int64_t DeadClasses::room(const kernel::ProblemView& p, const kernel::PassState& s, Growth& growth, const OrderPlace& dead,
                               std::int32_t demand) {
  if (to_index(demand) >= kind_of_.size() || kind_of_[to_index(demand)] < 0) name_kind(p, demand);
  const std::size_t k = to_index(kind_of_[to_index(demand)]);
  if (growth.of_kind_.size() <= k) growth.of_kind_.resize(kinds_.size());
  Growth::Steps& steps = growth.of_kind_[k];
  if (steps.state != state_ || steps.members != kinds_[k].members) list_steps(p, s, growth, demand, kinds_[k], steps);
  std::int64_t members = 0;
  for (std::size_t i = steps.begin; i < steps.end; ++i) members += dead < growth.steps_[i].place ? growth.steps_[i].members : 0;
  return members;
}

void DeadClasses::clear() {
  dead_.clear();
  kind_ids_.clear();
  kinds_.clear();
  kind_of_.clear();
}

void DeadClasses::name_kind(const kernel::ProblemView& p, std::int32_t demand) {
  kind_of_.resize(std::max(kind_of_.size(), to_index(demand) + 1), -1);
  const kernel::DemandRow& d = p.demands[demand];
  const kernel::GroupRow& row = p.groups[d.group_begin];
  const auto [found, fresh] =
      kind_ids_.try_emplace({d.filter, row.gpus, row.cpu, row.memory, row.segment_size, on_one_node(row) ? row.members : 0},
                            static_cast<std::int32_t>(kinds_.size()));
  if (fresh) kinds_.emplace_back();
  Kind& kind = kinds_[to_index(found->second)];
  kind.members = std::max<std::int64_t>(kind.members, row.members);
  kind_of_[to_index(demand)] = found->second;
}

void DeadClasses::list_steps(const kernel::ProblemView& p, const kernel::PassState& s, Growth& growth, std::int32_t demand,
                             const Kind& kind, Growth::Steps& steps) const {
  static constexpr OrderPlace kBehindAll{INT64_MAX, INT64_MAX, 0};
  steps = {state_, kind.members, growth.steps_.size(), 0};
  const kernel::DemandRow& d = p.demands[demand];
  const kernel::GroupRow& row = p.groups[d.group_begin];
  std::int64_t sure = 0;  // with no victim gone
  for (const Growth::Node& grown : growth.nodes_) {
    if (sure >= kind.members) break;
    const std::int32_t node = grown.more.node;
    if (!kernel::in_filter(p, d.filter, node)) continue;
    const std::int64_t gpus = std::popcount(s.free[node]), cpu = s.cpu[node], memory = s.memory[node];
    // A sum of resources grows by no more members than one of them does.
    const std::int64_t added = std::max(
        {parts_begun(grown.more.gpus, row.gpus), parts_begun(grown.more.cpu, row.cpu), parts_begun(grown.more.memory, row.memory)});
    const auto members = [&](const Growth::Victims& gone) {
      const std::int64_t all =
          std::min({parts(gpus, gone.gpus, row.gpus), parts(cpu, gone.cpu, row.cpu), parts(memory, gone.memory, row.memory), kind.members});
      if (on_one_node(row)) return all < row.members ? 0 : all;
      const std::int64_t fit = std::min(all, added);
      // A few members more may complete a segment.
      return row.segment_size > 0 ? (fit + row.segment_size - 1) / row.segment_size * row.segment_size : fit;
    };
    std::int64_t so_far = members({});
    sure += so_far;
    if (so_far > 0) growth.steps_.push_back({kBehindAll, so_far});
    for (std::size_t v = grown.begin; v < grown.end; ++v) {
      const std::int64_t now = members(growth.victims_[v]);
      if (now > so_far) growth.steps_.push_back({growth.victims_[v].place, now - so_far});
      so_far = std::max(so_far, now);
    }
  }
  steps.end = growth.steps_.size();
}

std::int64_t members_missing(const kernel::ProblemView& p, const kernel::PassState& s, const kernel::DemandRow& demand) {
  const kernel::GroupRow& row = p.groups[demand.group_begin];
  const std::int64_t by_gpus = row.gpus > 0 ? row.members - s.type_free[demand.gpu_type] / row.gpus : 0;
  if (by_gpus > 0) return on_one_node(row) ? row.members : by_gpus;
  if (on_one_node(row)) return row.members;
  const auto missing = [&](const kernel::NodeSet& set) {
    const kernel::Measure m = kernel::measure_for(p, s, row, set, row.members);
    return row.members - (m.plain < row.members ? m.plain : kernel::cap_of(row, m));
  };
  const kernel::NodeSet all = kernel::all_nodes(p, demand.filter, kNever);
  if (!kernel::has_require(row)) return missing(all);
  std::int64_t least = row.members;
  const kernel::DomainRange range = kernel::domains_meeting(p, all, row.require_topology, row.require_level);
  for (std::int32_t r = range.first; r < range.last; ++r) {
    if (!kernel::names_require(p, row, r)) continue;
    least = std::min(least, missing(kernel::within(p, all, row.require_topology, row.require_level, r)));
  }
  return least;
}

}  // namespace berth::core
