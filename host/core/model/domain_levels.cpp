#include "host/core/model/domain_levels.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace berth::core {
namespace {

// Levels from leaf to root: a level comes after every level that has a domain below one of its own.
std::vector<std::string> ordered_levels(const std::vector<const Domain*>& domains, const std::vector<std::int32_t>& parent) {
  std::map<std::string, std::set<std::string>> below;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    below[domains[i]->level];
    for (std::int32_t up = parent[i]; up >= 0; up = parent[static_cast<std::size_t>(up)]) {
      const std::string& level = domains[static_cast<std::size_t>(up)]->level;
      if (level != domains[i]->level) below[level].insert(domains[i]->level);
    }
  }
  std::vector<std::string> order;
  while (!below.empty()) {
    auto next = std::find_if(below.begin(), below.end(), [&](const auto& entry) {
      return std::all_of(entry.second.begin(), entry.second.end(), [&](const std::string& level) { return below.count(level) == 0; });
    });
    if (next == below.end()) next = below.begin();  // a cycle of levels, which check_snapshot rejects
    order.push_back(next->first);
    below.erase(next);
  }
  return order;
}

}  // namespace

std::string path_of(const Domain& domain) { return domain.parent.empty() ? domain.id : domain.parent + "/" + domain.id; }

DomainLevels::DomainLevels(TopologyKind topology, std::span<const Domain> domains) {
  std::vector<const Domain*> mine;
  for (const Domain& domain : domains) {
    if (domain.topology == topology) mine.push_back(&domain);
  }
  for (const Domain* domain : mine) {
    find_.emplace(path_of(*domain), static_cast<std::int32_t>(paths_.size()));
    paths_.push_back(path_of(*domain));
  }
  std::vector<std::int32_t> parent;
  for (const Domain* domain : mine) {
    const auto found = find_.find(domain->parent);
    parent.push_back(domain->parent.empty() || found == find_.end() ? -1 : found->second);
  }
  names_ = ordered_levels(mine, parent);
  for (const Domain* domain : mine) {
    level_of_.push_back(static_cast<std::int32_t>(std::find(names_.begin(), names_.end(), domain->level) - names_.begin()) + 1);
  }

  const std::size_t levels = names_.size();
  of_leaf_.assign((paths_.size() + 1) * levels, 0);
  for (std::size_t row = 0; row <= paths_.size(); ++row) {
    std::vector<std::int32_t> at(levels + 2, -1);
    for (std::int32_t d = static_cast<std::int32_t>(row) - 1; d >= 0; d = parent[static_cast<std::size_t>(d)]) {
      at[static_cast<std::size_t>(level_of_[static_cast<std::size_t>(d)])] = d;
    }
    std::int32_t below = kAlone;
    for (std::size_t level = 1; level <= levels; ++level) {
      if (at[level] >= 0) below = -1 - at[level];
      of_leaf_[row * levels + level - 1] = at[level] >= 0 ? at[level] : below;
    }
  }
}

std::int32_t DomainLevels::find_level(std::string_view name) const {
  if (name == "node") return 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return static_cast<std::int32_t>(i) + 1;
  }
  return -1;
}

std::string_view DomainLevels::level_name(std::int32_t level) const {
  if (level == 0) return "node";
  return level >= 1 && level <= levels() ? std::string_view(names_[static_cast<std::size_t>(level - 1)]) : "cluster";
}

void DomainLevels::put_node(std::int32_t rank, std::string_view path) {
  if (static_cast<std::size_t>(rank) >= leaf_.size()) leaf_.resize(static_cast<std::size_t>(rank) + 1, 0);
  const auto found = path.empty() ? find_.end() : find_.find(std::string(path));
  leaf_[static_cast<std::size_t>(rank)] = found == find_.end() ? 0 : found->second + 1;
}

std::string_view DomainLevels::domain_name(std::int32_t domain) const {
  if (domain < 0) return "(unnamed)";
  const std::string_view path = paths_[static_cast<std::size_t>(domain)];
  return path.substr(path.rfind('/') + 1);
}

}  // namespace berth::core
