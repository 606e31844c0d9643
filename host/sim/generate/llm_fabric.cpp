#include "host/sim/generate/llm_fabric.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/sim/generate/fabric.hpp"

namespace berth::sim {
namespace {

/// Nodes of one level of a topology, by path.
struct LevelNodes {
  std::map<std::string, std::int32_t> nodes_at;

  std::int32_t most() const {
    std::int32_t most = 0;
    for (const auto& [path, nodes] : nodes_at) most = std::max(most, nodes);
    return most;
  }
  std::int32_t least() const {
    std::int32_t least = most();
    for (const auto& [path, nodes] : nodes_at) least = std::min(least, nodes);
    return least;
  }
};

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

/// The domains `up` levels above the nodes' own.
LevelNodes domains_of(const std::vector<const Node*>& nodes, TopologyKind topology, int up) {
  LevelNodes level;
  for (const Node* node : nodes) {
    std::string path = node->domain[static_cast<std::size_t>(topology)];
    for (int i = 0; i < up; ++i) path = parent_of(path);
    if (!path.empty()) ++level.nodes_at[path];
  }
  return level;
}

std::optional<LevelRef> level_ref(const Snapshot& cluster, TopologyKind topology, const LevelNodes& level) {
  if (level.nodes_at.empty()) return std::nullopt;
  const std::string& path = level.nodes_at.begin()->first;
  for (const Domain& domain : cluster.domains) {
    if (domain.topology == topology && (domain.parent.empty() ? domain.id : domain.parent + "/" + domain.id) == path)
      return LevelRef{topology, domain.level};
  }
  return std::nullopt;
}

}  // namespace

LlmFabric LlmFabric::of(const Snapshot& cluster) {
  std::map<std::pair<std::string, std::int32_t>, std::vector<const Node*>> kinds;
  for (const Node& node : cluster.nodes) {
    const auto gpus = node.gpu_list.empty() ? node.gpus : static_cast<std::int32_t>(node.gpu_list.size());
    if (node.state == NodeState::kReady && gpus > 0) kinds[{node.gpu_type, gpus}].push_back(&node);
  }
  LlmFabric fabric;
  if (kinds.empty()) return fabric;
  const auto gpus_in = [](const auto& kind) { return static_cast<std::int64_t>(kind.second.size()) * kind.first.second; };
  const auto& kind = *std::max_element(kinds.begin(), kinds.end(), [&](const auto& a, const auto& b) { return gpus_in(a) < gpus_in(b); });
  const std::vector<const Node*>& nodes = kind.second;
  fabric.node_gpus = kind.first.second;
  fabric.nodes = static_cast<std::int32_t>(nodes.size());
  if (dense_tflops(kind.first.first) > 1) fabric.tflops = dense_tflops(kind.first.first);

  const LevelNodes nvlink = domains_of(nodes, TopologyKind::kNvlink, 0);
  const LevelNodes leaves = domains_of(nodes, TopologyKind::kSwitch, 0), pods = domains_of(nodes, TopologyKind::kSwitch, 1);
  fabric.unit =
      nvlink.nodes_at.empty() ? level_ref(cluster, TopologyKind::kSwitch, leaves) : level_ref(cluster, TopologyKind::kNvlink, nvlink);
  fabric.unit_nodes = fabric.unit ? std::max(nvlink.most(), nvlink.nodes_at.empty() ? leaves.most() : 0) : fabric.nodes;
  fabric.pod = level_ref(cluster, TopologyKind::kSwitch, pods);
  fabric.pod_nodes = fabric.pod ? pods.most() : fabric.nodes;
  const LevelNodes faults = domains_of(nodes, TopologyKind::kFault, 0);
  if (faults.nodes_at.size() < 2) return fabric;
  fabric.fault = level_ref(cluster, TopologyKind::kFault, faults);
  fabric.fault_nodes = faults.least();
  return fabric;
}

}  // namespace berth::sim
