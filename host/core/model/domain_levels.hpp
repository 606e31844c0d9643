#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/cluster.hpp"

namespace berth::core {

/// The tree of one topology read from the domains' descriptions, without the compiled columns: the validator's source.
///
/// Level 0 is the node, 1..levels() the named levels from leaf to root. A node that names no domain at a level is on its
/// own there, or together with the nodes of the nearest named domain below: it never satisfies `require`.
class DomainLevels {
 public:
  DomainLevels() = default;
  DomainLevels(TopologyKind topology, std::span<const Domain> domains);

  std::int32_t levels() const { return static_cast<std::int32_t>(names_.size()); }
  /// "node" is 0; -1 when the topology has no such level.
  std::int32_t find_level(std::string_view name) const;
  std::string_view level_name(std::int32_t level) const;

  /// Registers the domain of a node: `path` in this topology, empty for none.
  void put_node(std::int32_t rank, std::string_view path);

  /// Which domain of `level` (1..levels()) the node is in. Named domains are >= 0, unnamed ones below.
  std::int32_t domain(std::int32_t level, std::int32_t node) const {
    const std::int32_t at =
        of_leaf_[static_cast<std::size_t>(leaf_[static_cast<std::size_t>(node)]) * names_.size() + static_cast<std::size_t>(level - 1)];
    return at == kAlone ? -1 - count() - node : at;
  }
  /// The same with level 0 being the node itself: equal values mean the same place.
  std::int32_t place(std::int32_t level, std::int32_t node) const { return level == 0 ? node : domain(level, node); }
  bool in_named(std::int32_t level, std::int32_t node) const { return level == 0 || domain(level, node) >= 0; }
  /// Last part of the path of a named domain; "(unnamed)" below 0.
  std::string_view domain_name(std::int32_t domain) const;
  std::int32_t count() const { return static_cast<std::int32_t>(paths_.size()); }
  std::int32_t level_of(std::int32_t domain) const { return level_of_[static_cast<std::size_t>(domain)]; }

 private:
  static constexpr std::int32_t kAlone = INT32_MIN;  // in of_leaf_: the node is on its own

  std::vector<std::string> names_;      // levels from leaf to root
  std::vector<std::string> paths_;      // [domains]
  std::vector<std::int32_t> level_of_;  // [domains] 1-based
  std::vector<std::int32_t> of_leaf_;   // [(domains + 1) * levels] row d + 1: the ancestors of domain d; row 0: of none; kAlone
  std::vector<std::int32_t> leaf_;      // [nodes] row of of_leaf_
  std::unordered_map<std::string, std::int32_t> find_;
};

/// Full path of a domain.
std::string path_of(const Domain& domain);

}  // namespace berth::core
