#include "host/core/placement/empty_domains.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

using kernel::GroupRow;

void EmptyDomains::begin(const StateImpl& s) {
  problem_ = &s.problem();
  // The lower half counts demands; known ones stay valid.
  const std::uint64_t structure = s.structure_version() >> 32;
  const bool same = served_.lock() == s.identity && structure == structure_;
  served_ = s.identity;
  structure_ = structure;
  total_.begin(*problem_, s.total_supply(), false);
  if (same) return;
  known_.clear();
  most_gpus_.fill(-1);
}

// Of the nodes of one domain of the level.
std::int64_t EmptyDomains::most_gpus(std::int32_t topology, std::int32_t level) {
  std::int64_t& most = most_gpus_[to_index(topology) * kMaxLevels + to_index(level)];
  if (most >= 0) return most;
  most = 0;
  if (level == 0) {
    for (std::int32_t node = 0; node < problem_->n_nodes; ++node) most = std::max<std::int64_t>(most, total_.row(node).gpus);
    return most;
  }
  const kernel::TopologyView& f = problem_->topology[topology];
  for (std::int32_t domain = f.level_begin[level]; domain < f.level_begin[level + 1]; ++domain) {
    std::int64_t gpus = 0;
    for (std::int32_t i = problem_->domains.first[domain]; i < problem_->domains.last[domain]; ++i) gpus += total_.row(f.order[i]).gpus;
    most = std::max(most, gpus);
  }
  return most;
}

std::int32_t EmptyDomains::place(std::int32_t topology, std::int32_t level, std::int32_t node) const {
  return level == 0 ? node : problem_->topology[topology].node_domain[std::int64_t{level} * problem_->n_nodes + node];
}

// Members of the group that the nodes hold: in whole segments, and no more in a domain than its spread allows.
std::int64_t EmptyDomains::members_in(const GroupRow& group, const std::int32_t* nodes, std::int32_t n) {
  const auto count = [&](std::int32_t topology, std::int32_t level, std::int64_t most, std::int64_t unit) {
    by_place_.clear();
    for (std::int32_t i = 0; i < n; ++i) {
      if (!may_use(nodes[i])) continue;
      by_place_.emplace_back(place(topology, level, nodes[i]), total_.members(total_.row(nodes[i]), group, Stage::kMemory, kNever));
    }
    std::sort(by_place_.begin(), by_place_.end());
    std::int64_t all = 0;
    for (std::size_t i = 0; i < by_place_.size();) {
      const std::int32_t here = by_place_[i].first;
      std::int64_t members = 0;
      for (; i < by_place_.size() && by_place_[i].first == here; ++i) members += by_place_[i].second;
      all += std::min(members, most) / unit * unit;
    }
    return all;
  };
  const std::int64_t any = group.members;
  std::int64_t members = 0;
  if (group.segment_size > 0) {
    members = count(group.segment_topology, group.segment_level, INT64_MAX, group.segment_size);
  } else {
    for (std::int32_t i = 0; i < n; ++i) {
      if (may_use(nodes[i])) members += total_.members(total_.row(nodes[i]), group, Stage::kMemory, kNever);
    }
  }
  if (group.spread_most > 0) members = std::min(members, count(group.spread_topology, group.spread_level, group.spread_most, 1));
  return std::min(members, any);
}

bool EmptyDomains::find(const StateImpl& s, std::int32_t demand, std::int32_t topology, std::int32_t level) {
  const kernel::DemandRow row = s.demands.rows()[to_index(demand)];
  const kernel::TopologyView& f = problem_->topology[topology];
  if (level >= f.levels - 1) return true;
  if (row.gpus > most_gpus(topology, level)) return false;
  may_use_ = s.filters.lasting() + std::int64_t{row.filter} * problem_->n_words;
  const std::int32_t begin = level == 0 ? 0 : f.level_begin[level];
  const std::int32_t end = level == 0 ? problem_->n_nodes : f.level_begin[level + 1];
  for (std::int32_t domain = begin; domain < end; ++domain) {
    if (level > 0 && problem_->domains.named[domain] == 0) continue;
    const std::int32_t* nodes = level == 0 ? &domain : f.order + problem_->domains.first[domain];
    const std::int32_t n = level == 0 ? 1 : problem_->domains.last[domain] - problem_->domains.first[domain];
    std::int64_t gpus = 0;
    for (std::int32_t i = 0; i < n; ++i) gpus += may_use(nodes[i]) ? total_.row(nodes[i]).gpus : 0;
    bool holds = gpus >= row.gpus;
    for (std::int32_t g = row.group_begin; holds && g < row.group_end; ++g) {
      const GroupRow& group = s.demands.groups()[to_index(g)];
      holds = members_in(group, nodes, n) >= group.members;
    }
    if (holds) return true;
  }
  return false;
}

bool EmptyDomains::hold(const StateImpl& s, std::int32_t demand, std::int32_t topology, std::int32_t level) {
  const std::size_t at = (to_index(demand) * kTopologyKinds + to_index(topology)) * kMaxLevels + to_index(level);
  if (known_.size() <= at) known_.resize((to_index(demand) + 1) * kTopologyKinds * kMaxLevels, -1);
  if (known_[at] < 0) {
    const bool holds = find(s, demand, topology, level);
    known_[at] = holds ? 1 : 0;
  }
  return known_[at] != 0;
}

}  // namespace berth::core
