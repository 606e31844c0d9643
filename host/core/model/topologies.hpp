#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/kernel/base/problem.hpp"

namespace berth::core {

/// The trees of all topologies over the nodes, as columns for the kernel views, and their names.
class Topologies {
 public:
  /// Sorts `nodes` by (domain path in the switch topology, id) and numbers domains. The input has passed check_snapshot.
  void build(const std::vector<Domain>& domains, std::vector<Node>& nodes);

  void fill(kernel::ProblemView& view) const;
  std::int32_t size() const { return static_cast<std::int32_t>(path_.size()); }  ///< domains of all topologies

  /// Level number of a name in a topology ("node" is 0, "cluster" the last), or -1.
  std::int32_t level(TopologyKind topology, std::string_view name) const;
  /// "rack", "node", "cluster".
  const std::string& level_name(std::int32_t topology, std::int32_t level) const;
  /// Of all topologies and levels.
  std::vector<std::vector<std::string>> level_names() const {
    std::vector<std::vector<std::string>> names;
    for (const TopologyColumns& one : topologies_) names.push_back(one.names);
    return names;
  }
  /// Full path of a domain, "(unnamed)" parts included, or "the cluster".
  const std::string& path(std::int32_t domain) const { return path_[static_cast<std::size_t>(domain)]; }
  /// The description of a named domain, or null.
  const Domain* description(std::int32_t domain) const { return description_[static_cast<std::size_t>(domain)]; }
  /// Topology and level of a domain.
  std::int32_t topology_of(std::int32_t domain) const { return topology_of_[static_cast<std::size_t>(domain)]; }
  std::int32_t level_of(std::int32_t domain) const { return level_of_[static_cast<std::size_t>(domain)]; }
  /// The domain of that full path, or -1.
  std::int32_t find(TopologyKind topology, std::string_view path) const;
  std::int32_t levels(std::int32_t topology) const {
    return static_cast<std::int32_t>(topologies_[static_cast<std::size_t>(topology)].names.size());
  }
  std::int32_t domain_of(std::int32_t topology, std::int32_t level, std::int32_t node) const {
    const TopologyColumns& f = topologies_[static_cast<std::size_t>(topology)];
    return f.node_domain[static_cast<std::size_t>(level) * static_cast<std::size_t>(n_nodes_) + static_cast<std::size_t>(node)];
  }
  /// The lowest domain of the nvlink topology that contains a node; -1: none.
  std::int32_t nvlink_domain(std::int32_t node) const;

 private:
  struct TopologyColumns {
    std::vector<std::string> names;  // of levels, "node" first, "cluster" last
    std::vector<std::int32_t> order;
    bool ranked = false;  // positions are ranks
    std::vector<std::int32_t> node_domain;
    std::array<std::int32_t, kMaxLevels + 1> level_begin{};
  };
  struct Tree;

  void build_topology(int topology, const std::vector<std::string>& levels_up, const std::vector<Domain>& domains,
                      std::vector<Node>& nodes);

  std::int32_t n_nodes_ = 0;
  std::array<TopologyColumns, kTopologyKinds> topologies_;
  std::vector<std::int32_t> first_, last_, child_first_, child_last_, parent_, topology_of_, level_of_;
  std::vector<std::uint8_t> named_;
  std::vector<std::string> path_;
  std::vector<const Domain*> description_;
};

}  // namespace berth::core
