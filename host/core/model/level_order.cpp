#include "host/core/model/level_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "host/core/base/names.hpp"

namespace berth::core {
namespace {

constexpr std::size_t kMostNamed = kMaxLevels - 2;

struct LevelNames {
  std::vector<std::string_view> names;
  std::array<std::uint32_t, kMostNamed> above{};  // bit j of [i]: level j is above level i

  std::size_t find(std::string_view name) const {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }
  void close() {
    for (std::size_t via = 0; via < names.size(); ++via) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        if ((above[i] >> via & 1) != 0) above[i] |= above[via];
      }
    }
  }
};

void check_chain(const LevelNames& levels, TopologyKind topology, const InputLocation& where) {
  for (std::size_t i = 0; i < levels.names.size(); ++i) {
    if ((levels.above[i] >> i & 1) != 0) {
      where.fail_at("domains", fmt::format("level '{}' of topology {} lies above itself", levels.names[i], name(topology)));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if ((levels.above[i] >> j & 1) != 0 || (levels.above[j] >> i & 1) != 0) continue;
      where.fail_at("domains",
                    fmt::format("levels '{}' and '{}' of topology {} have no order: no domain of one lies below one of the other",
                                levels.names[j], levels.names[i], name(topology)));
    }
  }
}

}  // namespace

std::string domain_path(const Domain& domain) { return domain.parent.empty() ? domain.id : domain.parent + '/' + domain.id; }

LevelOrder order_levels(const std::vector<Domain>& domains, const InputLocation& where) {
  std::array<LevelNames, kTopologyKinds> topologies;
  std::array<std::unordered_map<std::string, std::size_t>, kTopologyKinds> level_of_path;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    const auto f = static_cast<std::size_t>(domains[d].topology);
    LevelNames& levels = topologies[f];
    const std::size_t i = levels.find(domains[d].level);
    if (i == levels.names.size()) {
      if (i == kMostNamed) {
        InputLocation(where, "domains", static_cast<std::int64_t>(d))
            .fail_at("level", fmt::format("'{}' is one level more than the {} that topology {} may have", domains[d].level, kMostNamed,
                                          name(domains[d].topology)));
      }
      levels.names.push_back(domains[d].level);
    }
    level_of_path[f].emplace(domain_path(domains[d]), i);
  }
  for (const Domain& domain : domains) {
    if (domain.parent.empty()) continue;
    const auto f = static_cast<std::size_t>(domain.topology);
    const auto parent = level_of_path[f].find(domain.parent);
    if (parent == level_of_path[f].end()) continue;  // check_domains has rejected it
    topologies[f].above[topologies[f].find(domain.level)] |= 1u << parent->second;
  }
  LevelOrder order;
  for (std::size_t f = 0; f < kTopologyKinds; ++f) {
    LevelNames& levels = topologies[f];
    levels.close();
    check_chain(levels, static_cast<TopologyKind>(f), where);
    order[f].resize(levels.names.size());
    for (std::size_t i = 0; i < levels.names.size(); ++i) {
      const auto from_root = static_cast<std::size_t>(std::popcount(levels.above[i]));
      order[f][levels.names.size() - 1 - from_root] = std::string(levels.names[i]);
    }
  }
  return order;
}

}  // namespace berth::core
