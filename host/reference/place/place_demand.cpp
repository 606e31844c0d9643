#include "host/reference/place/place_demand.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "host/reference/place/fill.hpp"

namespace berth::reference {
namespace {

using kernel::GroupRow;
using kernel::kNone;
using kernel::ProblemView;
using PlacedEntries = std::vector<kernel::PlacedRow>;

const GroupRow& row_of(const Trial& ask, std::int32_t group) { return ask.problem->groups[ask.demand->group_begin + group]; }

struct DemandLevel {
  std::int32_t topology, level;
};

std::vector<DemandLevel> level_sequence(const ProblemView& p, const GroupRow& group) {
  std::vector<DemandLevel> levels{{0, 0}};
  if (group.prefer_level != kNone) {
    for (std::int32_t l = 1; l <= group.prefer_level; ++l) levels.push_back({group.prefer_topology, l});
  }
  const bool require = group.require_level != kNone;
  const std::int32_t topology = require ? group.require_topology : 0;
  const std::int32_t top = require ? group.require_level : p.topology[0].levels - 1;
  for (std::int32_t l = 1; l <= top; ++l) levels.push_back({topology, l});
  return levels;
}

// The domain R of a node; 0 without require, none where the domain has no name.
std::optional<std::int32_t> required_domain(const ProblemView& p, const GroupRow& group, std::int32_t node) {
  if (group.require_level == kNone) return 0;
  const std::int32_t domain = domain_of(p, group.require_topology, group.require_level, node);
  if (group.require_level > 0 && p.domains.named[domain] == 0) return std::nullopt;
  return domain;
}

// The best candidate of one level, empty when none holds the group.
NodeList best_candidate(const Trial& ask, const State& s, const GroupRow& group, const NodeList& nodes, DemandLevel at) {
  const ProblemView& p = *ask.problem;
  std::map<std::pair<std::int32_t, std::int32_t>, NodeList> candidates;  // by (R, d)
  for (const std::int32_t node : nodes) {
    const auto required = required_domain(p, group, node);
    if (required) candidates[{*required, domain_of(p, at.topology, at.level, node)}].push_back(node);
  }
  using Rank = std::tuple<std::int64_t, std::int64_t, std::int32_t, std::int32_t>;
  std::optional<Rank> best;
  NodeList chosen;
  for (const auto& candidate : candidates) {
    const Size size = full_size(ask, s, group, candidate.second);
    if (size.cap < group.members) continue;
    const Rank rank = at.level == 0 ? Rank{size.raw, candidate.first.second, 0, 0}
                                    : Rank{size.cap, size.raw, candidate.first.first, candidate.first.second};
    if (best && *best < rank) continue;
    best = rank;
    chosen = candidate.second;
  }
  return chosen;
}

// Packing::kCount: nodes in rank order. Packing::kEmptiest: those with more free GPUs first; shares stay in rank order.
bool place_by_count(const Trial& ask, State& s, kernel::Packing packing, std::int32_t group, const GroupRow& row, const NodeList& nodes,
                    PlacedEntries& entries) {
  std::map<std::int32_t, NodeList> sets;  // by R
  for (const std::int32_t node : nodes) {
    const auto required = required_domain(*ask.problem, row, node);
    if (required) sets[*required].push_back(node);
  }
  const bool emptiest = packing == kernel::Packing::kEmptiest;
  std::optional<std::int64_t> most;
  NodeList chosen;
  for (const auto& set : sets) {
    const Size size = plain_size(ask, s, row, set.second);
    if (size.cap < row.members || (most && (!emptiest || size.raw <= *most))) continue;
    most = size.raw;
    chosen = set.second;
  }
  if (!most) return false;
  if (emptiest && row.share_ppm == kWholeGpu) {
    std::stable_sort(chosen.begin(), chosen.end(), [&](std::int32_t a, std::int32_t b) {
      return std::popcount(s.free[static_cast<std::size_t>(a)]) > std::popcount(s.free[static_cast<std::size_t>(b)]);
    });
  }
  Placing placing{group, &row, &entries, 0};
  for (const std::int32_t node : chosen) {
    const std::int64_t amount = std::min<std::int64_t>(size_of(ask, s, row, node).cap, row.members - placing.placed);
    if (amount > 0) take_node(ask, s, placing, node, amount);
  }
  return true;
}

// Section 2: the members of one group.
bool place_members(const Trial& ask, State& s, const Tries& tries, std::int32_t group, const GroupRow& row, const NodeList& nodes,
                   PlacedEntries& entries) {
  if (row.members == 0) return true;
  const bool by_count = tries.packing == kernel::Packing::kCount || tries.packing == kernel::Packing::kEmptiest;
  if (by_count && row.segment_size == 0 && row.spread_most == 0) {
    return place_by_count(ask, s, tries.packing, group, row, nodes, entries);
  }
  if (plain_size(ask, s, row, nodes).cap < row.members) return false;  // no part of the set holds more than the set itself
  for (const DemandLevel at : level_sequence(*ask.problem, row)) {
    const NodeList set = best_candidate(ask, s, row, nodes, at);
    if (set.empty()) continue;
    State trial = s;
    PlacedEntries rows = entries;
    Placing placing{group, &row, &rows, 0};
    if (!fill(ask, trial, placing, set, at.topology, at.level, row.members)) continue;
    s = std::move(trial);
    entries = std::move(rows);
    return true;
  }
  return false;
}

// The domains of one level, intersected with a set, that have enough GPUs; ascending by (free GPUs, domain).
std::vector<NodeList> domains_by_free(const Trial& ask, const State& s, const NodeList& nodes, DemandLevel at, std::int64_t gpus,
                                      bool only_named) {
  const ProblemView& p = *ask.problem;
  std::map<std::int32_t, NodeList> sets;
  if (at.level == 0) {
    for (std::int32_t n = 0; n < p.n_nodes; ++n) sets[n] = {};
  } else {
    const kernel::TopologyView& topology = p.topology[at.topology];
    for (std::int32_t d = topology.level_begin[at.level]; d < topology.level_begin[at.level + 1]; ++d) {
      if (!only_named || p.domains.named[d] != 0) sets[d] = {};
    }
  }
  for (const std::int32_t node : nodes) {
    const auto set = sets.find(domain_of(p, at.topology, at.level, node));
    if (set != sets.end()) set->second.push_back(node);
  }
  std::vector<std::tuple<std::int64_t, std::int32_t, NodeList>> ranked;
  for (const auto& set : sets) {
    const std::int64_t free = free_gpus(ask, s, set.second);
    if (free >= gpus) ranked.emplace_back(free, set.first, set.second);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<NodeList> result;
  result.reserve(ranked.size());
  for (auto& one : ranked) result.push_back(std::move(std::get<2>(one)));
  return result;
}

// Section 5: the sets for a group with children, in the order of tries.
std::vector<NodeList> tree_candidates(const Trial& ask, const State& s, const GroupRow& row, const NodeList& nodes) {
  std::vector<NodeList> outer{nodes};
  if (row.require_level != kNone) outer = domains_by_free(ask, s, nodes, {row.require_topology, row.require_level}, row.subtree_gpus, true);
  std::vector<NodeList> candidates;
  for (const NodeList& set : outer) {
    for (std::int32_t l = 1; row.prefer_level != kNone && l <= row.prefer_level; ++l) {
      for (NodeList& inner : domains_by_free(ask, s, set, {row.prefer_topology, l}, row.subtree_gpus, false))
        candidates.push_back(std::move(inner));
    }
    if (free_gpus(ask, s, set) >= row.subtree_gpus) candidates.push_back(set);
  }
  return candidates;
}

bool place_group(const Trial& ask, State& s, Tries& tries, std::int32_t group, const NodeList& nodes, PlacedEntries& entries);

// Places the group's own members and its children, all inside one candidate.
bool place_subtree(const Trial& ask, State& s, Tries& tries, std::int32_t group, const NodeList& nodes, PlacedEntries& entries) {
  const GroupRow& row = row_of(ask, group);
  GroupRow own = row;
  own.require_level = kNone;
  own.prefer_level = kNone;
  if (!place_members(ask, s, tries, group, own, nodes, entries)) return false;
  for (std::int32_t child = group + 1; child < row.subtree_end; child = row_of(ask, child).subtree_end) {
    if (!place_group(ask, s, tries, child, nodes, entries)) return false;
  }
  return true;
}

bool place_group(const Trial& ask, State& s, Tries& tries, std::int32_t group, const NodeList& nodes, PlacedEntries& entries) {
  const GroupRow& row = row_of(ask, group);
  if (row.subtree_end == group + 1) return place_members(ask, s, tries, group, row, nodes, entries);
  std::int32_t tried = 0;
  for (const NodeList& candidate : tree_candidates(ask, s, row, nodes)) {
    if (tried == tries.max_tries) {
      tries.ran_out = true;
      return false;
    }
    ++tried;
    State trial = s;
    PlacedEntries rows = entries;
    if (!place_subtree(ask, trial, tries, group, candidate, rows)) continue;
    s = std::move(trial);
    entries = std::move(rows);
    return true;
  }
  return false;
}

}  // namespace

bool place_demand(const Trial& ask, State& s, Tries& tries, std::vector<kernel::PlacedRow>& entries) {
  State trial = s;
  PlacedEntries rows;
  const NodeList nodes = all_nodes(*ask.problem);
  const std::int32_t count = ask.demand->group_end - ask.demand->group_begin;
  for (std::int32_t root = 0; root < count; root = row_of(ask, root).subtree_end) {
    if (!place_group(ask, trial, tries, root, nodes, rows)) return false;
  }
  s = std::move(trial);
  entries = std::move(rows);
  return true;
}

}  // namespace berth::reference
