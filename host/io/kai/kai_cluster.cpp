#include "host/io/kai/kai_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "berth/error.hpp"
#include "host/core/base/split.hpp"

namespace berth::io::kai {
namespace {

constexpr std::size_t kMostLevels = kMaxLevels - 2;  // besides "node" and "cluster"
constexpr std::int64_t kMicro = 1'000'000;

/// GPU memory from the label of the device plugin, in MiB.
std::int64_t memory_of(const KaiNode& node) {
  const auto label = node.meta.labels.find("nvidia.com/gpu.memory");
  if (label == node.meta.labels.end()) return 0;
  return core::parse_whole(label->second, kMaxBytes >> 20).value_or(0) << 20;
}

std::int64_t whole_gpus(std::int64_t micro, const char* noun, const std::string& queue, ImportNotes& notes) {
  if (micro % kMicro != 0) notes.count(noun, " with a part of a GPU: rounded down", queue);
  return micro / kMicro;
}

}  // namespace

std::string level_name(const std::string& label) { return label == "node" || label == "cluster" ? "label " + label : label; }

bool keeps_away(const KaiNode& node) {
  return node.unschedulable ||
         std::any_of(node.taints.begin(), node.taints.end(), [](const std::string& key) { return key != "nvidia.com/gpu"; });
}

Cluster::Cluster(const KaiObjects& objects, const std::string& file, Snapshot& snapshot, ImportNotes& notes) {
  choose_topology(objects, notes);
  for (const KaiNode& node : objects.nodes) {
    if (node.capacity > 0) {
      add_node(node, file, snapshot, notes);
    } else {
      notes.count("node", node.mig ? " whose GPUs are MIG slices: left out" : " without GPUs: left out", node.meta.name);
    }
  }
  std::sort(snapshot.gpu_types.begin(), snapshot.gpu_types.end(), [](const GpuType& a, const GpuType& b) { return a.id < b.id; });
}

/// Selects the topology that most pod groups name; ties: the first by name. The domains of one topology form one tree.
void Cluster::choose_topology(const KaiObjects& objects, ImportNotes& notes) {
  std::map<std::string, std::int64_t> named;
  for (const auto& [topology, labels] : objects.topologies) named[topology] = 0;
  for (const KaiPodGroup& group : objects.pod_groups) {
    const auto found = named.find(group.topology.topology);
    if (found != named.end()) ++found->second;
  }
  const auto most = std::max_element(named.begin(), named.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == named.end()) return;
  topology_ = most->first;
  const auto other = most == named.begin() ? std::next(most) : named.begin();
  if (other != named.end()) {
    notes.count("tree", fmt::format(" of a topology other than '{}': left out", topology_), other->first,
                static_cast<std::int64_t>(named.size()) - 1);
  }
  for (const std::string& label : objects.topologies.at(topology_)) {
    if (label != kHostLabel && !label.empty()) levels_.push_back(label);
  }
  if (levels_.size() > kMostLevels) {
    notes.count("outermost level", " of the topology: left out", levels_.front(), static_cast<std::int64_t>(levels_.size() - kMostLevels));
    levels_.erase(levels_.begin(), levels_.end() - kMostLevels);
  }
}

void Cluster::add_node(const KaiNode& from, const std::string& file, Snapshot& snapshot, ImportNotes& notes) {
  if (from.capacity > kMaxGpusPerNode) {
    throw InputError(file, "/rawObjects/nodes", 0,
                     fmt::format("node '{}' has {} GPUs, and {} are the most", from.meta.name, from.capacity, kMaxGpusPerNode));
  }
  const auto product = from.meta.labels.find(kProductLabel);
  Node node;
  node.id = from.meta.name;
  node.gpu_type = product == from.meta.labels.end() || product->second.empty() ? "gpu" : product->second;
  node.gpus = static_cast<std::int32_t>(from.capacity);
  node.labels.assign(from.meta.labels.begin(), from.meta.labels.end());
  node.domain[static_cast<std::size_t>(TopologyKind::kSwitch)] = place(from, snapshot, notes);
  if (!from.ready) {
    node.state = NodeState::kFailed;
    notes.count("node", " not ready: failed", node.id);
  } else if (keeps_away(from)) {
    node.state = NodeState::kDrain;
    notes.count("node", " cordoned or tainted: drained, whatever single pods tolerate", node.id);
  }
  if (node.gpu_type == "gpu") notes.count("node", " without the label nvidia.com/gpu.product: GPU type 'gpu'", node.id);
  const auto known =
      std::find_if(snapshot.gpu_types.begin(), snapshot.gpu_types.end(), [&](const GpuType& t) { return t.id == node.gpu_type; });
  if (known == snapshot.gpu_types.end()) {
    snapshot.gpu_types.push_back({});
    snapshot.gpu_types.back().id = node.gpu_type;
    snapshot.gpu_types.back().memory_bytes = memory_of(from);
  }
  nodes_.emplace(node.id, static_cast<int>(snapshot.nodes.size()));
  snapshot.nodes.push_back(std::move(node));
}

/// Path of the innermost domain that the node's labels name; adds new domains.
std::string Cluster::place(const KaiNode& node, Snapshot& snapshot, ImportNotes& notes) {
  std::string path;
  for (const std::string& label : levels_) {
    const auto value = node.meta.labels.find(label);
    if (value == node.meta.labels.end() || value->second.empty() || value->second.find('/') != std::string::npos) {
      notes.count("node", fmt::format(" without the topology label '{}'", label), node.meta.name);
      return path;
    }
    const std::string parent = path;
    path = parent.empty() ? value->second : parent + "/" + value->second;
    if (!paths_.insert(path).second) continue;
    Domain domain;
    domain.id = value->second;
    domain.level = level_name(label);
    domain.parent = parent;
    snapshot.domains.push_back(std::move(domain));
  }
  return path;
}

int Cluster::node(const std::string& name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? -1 : found->second;
}

std::optional<LevelRef> Cluster::level(const KaiTopologyConstraint& constraint, const std::string& label) const {
  if (!constraint.topology.empty() && constraint.topology != topology_) return std::nullopt;
  if (label == kHostLabel) return LevelRef{TopologyKind::kSwitch, "node"};
  // A level without any domain does not exist in a snapshot. Domains are complete from the outermost level on.
  const auto found = std::find(levels_.begin(), levels_.end(), label);
  if (found == levels_.end()) return std::nullopt;
  const auto depth = found - levels_.begin();
  const bool there = std::any_of(paths_.begin(), paths_.end(),
                                 [&](const std::string& path) { return std::count(path.begin(), path.end(), '/') == depth; });
  return there ? std::optional<LevelRef>({TopologyKind::kSwitch, level_name(label)}) : std::nullopt;
}

void add_queues(const KaiObjects& objects, Snapshot& snapshot, ImportNotes& notes) {
  std::set<std::string> names;
  for (const KaiQueue& queue : objects.queues) names.insert(queue.meta.name);
  std::int64_t all = 0;
  for (const Node& node : snapshot.nodes) all += node.gpus;
  for (const KaiQueue& from : objects.queues) {
    Queue queue;
    queue.id = from.meta.name;
    if (names.count(from.parent) > 0) {
      queue.parent = from.parent;
    } else if (!from.parent.empty()) {
      notes.count("queue", " whose parent does not exist: without one", queue.id);
    }
    if (from.has_priority) notes.count("queue", " with a priority, which is left out", queue.id);
    if (from.has_gpu) {
      Quota quota;
      quota.gpu_type = "*";
      quota.guarantee = from.quota_micro == kUnlimited ? all : whole_gpus(from.quota_micro, "quota", queue.id, notes);
      quota.limit = from.limit_micro == kUnlimited ? kUnlimited : whole_gpus(from.limit_micro, "limit", queue.id, notes);
      queue.quotas.push_back(std::move(quota));
      queue.weight_ppm = std::max<std::int64_t>(from.weight_micro, 1);
      if (from.weight_micro <= 0) notes.count("queue", " without an over-quota weight above 0: the smallest weight", queue.id);
    }
    snapshot.queues.push_back(std::move(queue));
  }
}

}  // namespace berth::io::kai
