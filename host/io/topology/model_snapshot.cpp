// Between the model of a topology and a snapshot, both ways.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "berth/error.hpp"
#include "host/core/model/level_order.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/topology/topology_model.hpp"

namespace berth::io {
namespace {

/// What a domain of a snapshot has no field for.
constexpr std::string_view kParallelField = "x_parallel_switches", kSpeedField = "x_link_speed", kSizesField = "x_block_sizes";

std::string list_text(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const std::string& name : names) {
    if (text.size() > 1) text += ',';
    append_quoted(text, name);
  }
  return text + "]";
}

Domain domain_of(const TopologyModel& model, TopologyKind kind, std::size_t index, const std::vector<std::string>& paths) {
  const ModelDomain& from = model.of(kind)[index];
  Domain domain;
  domain.id = from.id;
  domain.topology = kind;
  domain.level = from.level;
  if (from.parent >= 0) domain.parent = paths[static_cast<std::size_t>(from.parent)];
  domain.uplink_bytes_per_s = from.uplink_bytes_per_s;
  domain.oversubscription_ppm = from.oversubscription_ppm;
  if (from.switches() > 1) domain.spine_count = from.working;
  if (from.link_speed > 0) domain.x.emplace_back(kSpeedField, std::to_string(from.link_speed));
  if (!from.parallel.empty()) domain.x.emplace_back(kParallelField, list_text(from.parallel));
  return domain;
}

std::array<std::vector<std::string>, kTopologyKinds> all_paths(const TopologyModel& model) {
  std::array<std::vector<std::string>, kTopologyKinds> out;
  for (int k = 0; k < kTopologyKinds; ++k) out[static_cast<std::size_t>(k)] = model.paths(static_cast<TopologyKind>(k));
  return out;
}

void put(const ModelNode& from, const std::array<std::vector<std::string>, kTopologyKinds>& paths, Node& node) {
  for (std::size_t k = 0; k < paths.size(); ++k) {
    if (from.domain[k] >= 0) node.domain[k] = paths[k][static_cast<std::size_t>(from.domain[k])];
  }
  if (from.nics > 0) {
    node.nics = from.nics;
    node.nic_bytes_per_s = from.nic_bytes_per_s;
  }
  if (from.state != NodeState::kReady) node.state = from.state;
}

void add_all_domains(const TopologyModel& model, const std::array<std::vector<std::string>, kTopologyKinds>& paths, Snapshot& snapshot) {
  for (std::size_t k = 0; k < paths.size(); ++k) {
    for (std::size_t d = 0; d < paths[k].size(); ++d)
      snapshot.domains.push_back(domain_of(model, static_cast<TopologyKind>(k), d, paths[k]));
  }
  if (model.block_sizes.empty()) return;
  snapshot.x.emplace_back(kSizesField, fmt::format("[{}]", fmt::join(model.block_sizes, ",")));
}

}  // namespace

void add_to_snapshot(const TopologyModel& model, const NodeDefaults& defaults, Snapshot& snapshot) {
  const auto paths = all_paths(model);
  add_all_domains(model, paths, snapshot);
  std::set<std::string> types;
  snapshot.nodes.reserve(model.nodes.size());
  for (const ModelNode& from : model.nodes) {
    if (from.gpus < 0 && defaults.gpus_per_node == 0) {
      throw InvalidArgument(fmt::format("{} does not say how many GPUs its nodes have: give --gpus-per-node", model.file()));
    }
    Node& node = snapshot.nodes.emplace_back();
    node.id = from.id;
    node.gpus = from.gpus < 0 ? defaults.gpus_per_node : from.gpus;
    node.gpu_type = !from.gpu_type.empty() ? from.gpu_type : defaults.gpu_type.empty() ? "gpu" : defaults.gpu_type;
    node.labels = from.labels;
    put(from, paths, node);
    types.insert(node.gpu_type);
  }
  for (const std::string& type : types) snapshot.gpu_types.emplace_back().id = type;
}

void add_domains(const TopologyModel& model, const std::unordered_map<std::string_view, std::size_t>& rank, Snapshot& snapshot,
                 ImportNotes& notes) {
  const auto paths = all_paths(model);
  add_all_domains(model, paths, snapshot);
  for (const ModelNode& from : model.nodes) {
    const auto found = rank.find(from.id);
    if (found == rank.end()) {
      notes.count("node", " of the topology left out: not among the nodes with GPUs", from.id);
    } else {
      put(from, paths, snapshot.nodes[found->second]);
    }
  }
}

TopologyModel model_of(const Snapshot& snapshot, const std::string& name) {
  TopologyModel model(name);
  std::array<std::unordered_map<std::string, std::int32_t>, kTopologyKinds> index;
  for (const Domain& from : snapshot.domains) {
    std::vector<ModelDomain>& list = model.of(from.topology);
    index[static_cast<std::size_t>(from.topology)].emplace(core::domain_path(from), static_cast<std::int32_t>(list.size()));
    ModelDomain& domain = list.emplace_back();
    domain.id = from.id;
    domain.level = from.level;
    domain.uplink_bytes_per_s = from.uplink_bytes_per_s;
    domain.oversubscription_ppm = from.oversubscription_ppm;
    for (const auto& [key, json] : from.x) {
      JsonCursor in(json, name);
      if (key == kSpeedField) domain.link_speed = in.integer(1, kMaxBytes);
      if (key == kParallelField) in.array([&] { domain.parallel.emplace_back(in.string()); });
    }
    domain.working = from.spine_count > 0 ? from.spine_count : domain.switches();
  }
  std::array<std::size_t, kTopologyKinds> next{};
  for (const Domain& from : snapshot.domains) {
    const auto k = static_cast<std::size_t>(from.topology);
    ModelDomain& domain = model.domains[k][next[k]++];
    if (!from.parent.empty()) domain.parent = index[k].at(from.parent);
  }
  for (const Node& from : snapshot.nodes) {
    ModelNode& node = model.add_node(from.id, 0);
    node.gpus = from.gpus;
    node.gpu_type = from.gpu_type;
    node.nics = from.nics;
    node.nic_bytes_per_s = from.nic_bytes_per_s;
    node.state = from.state;
    node.labels = from.labels;
    for (std::size_t k = 0; k < index.size(); ++k) {
      if (!from.domain[k].empty()) node.domain[k] = index[k].at(from.domain[k]);
    }
  }
  for (const auto& [key, json] : snapshot.x) {
    if (key != kSizesField) continue;
    JsonCursor in(json, name);
    in.array([&] { model.block_sizes.push_back(in.integer(1, kMaxNodes)); });
  }
  return model;
}

}  // namespace berth::io
