// Kubernetes nodes by the labels that a Topology of Kueue names, outermost first. A label is unique only within its
// parent, so domains are known by their full path. Without a Topology, topograph's labels are the levels.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/core/base/split.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/kai/kai_cluster.hpp"
#include "host/io/topology/kubernetes_objects.hpp"
#include "host/io/topology/topology_formats.hpp"

namespace berth::io {
namespace {

using LabelPath = std::vector<std::pair<std::string, std::string>>;  // (level, label value) from the root down

const TopologyObject* chosen_topology(const KubernetesObjects& objects, const std::string& name) {
  std::vector<std::string> names;
  for (const TopologyObject& one : objects.topologies) {
    if (std::find(names.begin(), names.end(), one.name) != names.end())
      fail_topology(one.at.file, one.at.line, fmt::format("duplicate topology '{}'", one.name));
    names.push_back(one.name);
  }
  const auto found = std::find(names.begin(), names.end(), name);
  if (!name.empty() && found == names.end())
    throw InvalidArgument(
        fmt::format("--topology: there is no topology '{}' (topologies: {})", cut_utf8(name, 60), fmt::join(names, ", ")));
  if (name.empty() && names.size() > 1)
    throw InvalidArgument(fmt::format("several topologies: choose one with --topology ({})", fmt::join(names, ", ")));
  if (names.empty()) return nullptr;
  return &objects.topologies[name.empty() ? 0 : static_cast<std::size_t>(found - names.begin())];
}

// The labels of the levels above the node.
std::vector<std::string> levels_of(const TopologyObject& topology) {
  std::vector<std::string> levels = topology.levels;
  const auto fail = [&](const std::string& problem) {
    fail_topology(topology.at.file, topology.at.line, fmt::format("topology '{}': {}", topology.name, problem));
  };
  if (levels.back() == kai::kHostLabel) levels.pop_back();
  std::set<std::string> seen;
  for (const std::string& level : levels) {
    if (level == kai::kHostLabel) fail(fmt::format("level '{}' is the node and comes last", level));
    if (level.empty()) fail("a level without nodeLabel");
    if (!seen.insert(level).second) fail(fmt::format("level '{}' stands twice", level));
  }
  if (levels.size() > static_cast<std::size_t>(kMaxLevels) - 2)
    fail(fmt::format("{} levels above the node, and {} are the most", levels.size(), kMaxLevels - 2));
  return levels;
}

const std::string* label_of(const ModelNode& node, const std::string& key) {
  const auto at =
      std::lower_bound(node.labels.begin(), node.labels.end(), key, [](const auto& one, const auto& k) { return one.first < k; });
  return at == node.labels.end() || at->first != key || at->second.empty() ? nullptr : &at->second;
}

LabelPath path_of(const ModelNode& node, const std::vector<std::string>& levels, const std::string& topology, const std::string& file) {
  LabelPath path;
  for (const std::string& level : levels) {
    const std::string* const value = label_of(node, level);
    if (value == nullptr)
      fail_topology(file, node.line, fmt::format("node '{}' has no label '{}', a level of topology '{}'", node.id, level, topology));
    path.emplace_back(kai::level_name(level), *value);
  }
  return path;
}

// By fabric.topograph.run/tier-N, where tier 0 is the closest.
LabelPath path_of_tiers(const ModelNode& node, const std::string& file) {
  std::vector<std::pair<std::int64_t, std::string>> tiers;
  for (const auto& [key, value] : node.labels) {
    if (key.compare(0, kTierLabel.size(), kTierLabel) != 0) continue;
    const auto tier = core::parse_whole(std::string_view(key).substr(kTierLabel.size()), kMaxLevels - 3);
    if (!tier)
      fail_topology(file, node.line, fmt::format("node '{}': label '{}' names no tier from 0 to {}", node.id, key, kMaxLevels - 3));
    tiers.emplace_back(*tier, value);
  }
  std::sort(tiers.begin(), tiers.end());
  LabelPath path;
  for (std::size_t i = tiers.size(); i-- > 0;) {
    if (tiers[i].first != static_cast<std::int64_t>(i))
      fail_topology(file, node.line,
                    fmt::format("node '{}' has the label {}{} and not {}{}", node.id, kTierLabel, tiers[i].first, kTierLabel, i));
    path.emplace_back(fmt::format("tier-{}", i), tiers[i].second);
  }
  return path;
}

}  // namespace

TopologyModel kueue_model(const KubernetesObjects& objects, const std::string& file, const KueueTopologyOptions& options,
                          ImportNotes& notes) {
  TopologyModel model(file);
  add_kubernetes_nodes(objects, model, notes);
  const TopologyObject* const chosen = chosen_topology(objects, options.topology);
  const std::vector<std::string> levels = chosen == nullptr ? std::vector<std::string>() : levels_of(*chosen);
  std::map<std::string, const ObjectPlace*> places;
  for (const auto& [node, at] : objects.nodes) places.emplace(node.meta.name, &at);
  bool any = false;
  for (ModelNode& node : model.nodes) {
    model.set_file(places.at(node.id)->file);
    const auto has_label = [&](const std::string& level) { return label_of(node, level) != nullptr; };
    if (chosen != nullptr && options.partial && !std::all_of(levels.begin(), levels.end(), has_label)) {
      notes.count("node", " without a label of the topology: in no domain", node.id);
      continue;
    }
    const LabelPath path = chosen == nullptr ? path_of_tiers(node, model.file()) : path_of(node, levels, chosen->name, model.file());
    if (path.empty()) continue;
    any = true;
    model.place(node, TopologyKind::kSwitch, model.domain_at(TopologyKind::kSwitch, path, node.line), node.line);
  }
  model.set_file(file);
  if (model.nodes.empty()) fail_topology(file, 0, "no nodes with GPUs: give what 'kubectl get nodes -o json' prints, too");
  if (!any && chosen == nullptr && !options.partial)
    fail_topology(file, 0, fmt::format("no Topology, and no node has a label {}0: the nodes are in no domain", kTierLabel));
  return model;
}

TopologyModel read_kueue(const std::vector<std::string>& files, const std::string& topology, ImportNotes& notes) {
  KubernetesObjects objects;
  for (const std::string& file : files) read_kubernetes_objects(read_file(file), input_name(file), objects, notes);
  return kueue_model(objects, input_name(files.front()), {.topology = topology}, notes);
}

}  // namespace berth::io
