// Volcano's HyperNodes: a tree of domains, of which tier 1 is the closest to the nodes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/topology/kubernetes_objects.hpp"
#include "host/io/topology/switch_list.hpp"
#include "host/io/topology/topology_formats.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kMostPatternBytes = 256;

class MemberMatcher {
 public:
  MemberMatcher(const KubernetesObjects& objects, const TopologyModel& model) : objects_(objects), model_(model) {
    for (const auto& [node, at] : objects.nodes) all_nodes_.insert(node.meta.name);
    for (const ModelNode& node : model.nodes) used_nodes_.insert(node.id);
  }

  /// The names that a member stands for. Nodes that are left out for want of GPUs are left out here too.
  std::vector<std::string> names(const HyperNodeObject& of, const HyperNodeMember& member) const {
    if (!member.name.empty()) return exact(of, member);
    if (!member.hyper_node && objects_.nodes.empty())
      fail(of, member, "it selects nodes by pattern or labels: give what 'kubectl get nodes -o json' prints, too");
    std::vector<std::string> out = member.pattern.empty() ? by_labels(of, member) : by_pattern(of, member);
    if (out.empty()) fail(of, member, "no member matches");
    return out;
  }

 private:
  [[noreturn]] static void fail(const HyperNodeObject& of, const HyperNodeMember& member, const std::string& problem) {
    fail_topology(of.at.file, member.line, fmt::format("HyperNode '{}': {}", of.name, problem));
  }

  std::vector<std::string> exact(const HyperNodeObject& of, const HyperNodeMember& member) const {
    if (member.hyper_node || objects_.nodes.empty()) return {member.name};
    if (all_nodes_.count(member.name) == 0) fail(of, member, fmt::format("there is no node '{}'", cut_utf8(member.name, 60)));
    return used_nodes_.count(member.name) > 0 ? std::vector<std::string>{member.name} : std::vector<std::string>();
  }

  std::vector<std::string> by_labels(const HyperNodeObject& of, const HyperNodeMember& member) const {
    if (member.hyper_node) fail(of, member, "labels select nodes, not HyperNodes");
    std::vector<std::string> out;
    for (const ModelNode& node : model_.nodes) {
      const auto has = [&](const auto& label) { return std::binary_search(node.labels.begin(), node.labels.end(), label); };
      if (std::all_of(member.labels.begin(), member.labels.end(), has)) out.push_back(node.id);
    }
    return out;
  }

  std::vector<std::string> by_pattern(const HyperNodeObject& of, const HyperNodeMember& member) const {
    if (member.pattern.size() > kMostPatternBytes) fail(of, member, fmt::format("a pattern of more than {} bytes", kMostPatternBytes));
    std::vector<std::string> out;
    try {
      const std::regex pattern(member.pattern, std::regex::ECMAScript | kWithoutBacktracking);
      const auto add = [&](const std::string& name) {
        if (std::regex_search(name, pattern)) out.push_back(name);
      };
      if (member.hyper_node) {
        for (const HyperNodeObject& one : objects_.hyper_nodes) add(one.name);
      } else {
        for (const ModelNode& node : model_.nodes) add(node.id);
      }
    } catch (const std::regex_error&) {
      fail(of, member, fmt::format("'{}' is no regular expression that is read here", cut_utf8(member.pattern, 60)));
    }
    return out;
  }

#ifdef __GLIBCXX__
  static constexpr auto kWithoutBacktracking = std::regex_constants::__polynomial;
#else
  static constexpr auto kWithoutBacktracking = std::regex_constants::ECMAScript;
#endif

  const KubernetesObjects& objects_;
  const TopologyModel& model_;
  std::set<std::string> all_nodes_, used_nodes_;  // used: with GPUs
};

void check_tiers(const std::vector<HyperNodeObject>& objects, const std::vector<ListedSwitch>& list) {
  std::map<std::string_view, std::int64_t> tiers;
  for (const HyperNodeObject& one : objects) tiers.emplace(one.name, one.tier);
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (const std::string& child : list[i].switches) {
      const auto found = tiers.find(child);
      if (found == tiers.end() || found->second < objects[i].tier) continue;
      fail_topology(
          objects[i].at.file, objects[i].at.line,
          fmt::format("HyperNode '{}' of tier {} has '{}' of tier {} below it", list[i].name, objects[i].tier, child, found->second));
    }
  }
}

}  // namespace

TopologyModel read_volcano(const std::vector<std::string>& files, const std::string& topology, ImportNotes& notes) {
  if (!topology.empty()) throw InvalidArgument("--topology is for formats with several topologies, and volcano has one");
  KubernetesObjects objects;
  for (const std::string& file : files) read_kubernetes_objects(read_file(file), input_name(file), objects, notes);
  TopologyModel model(input_name(files.front()));
  add_kubernetes_nodes(objects, model, notes);
  if (objects.hyper_nodes.empty()) fail_topology(model.file(), 0, "no HyperNodes: give what 'kubectl get hypernodes -o json' prints");
  const MemberMatcher matcher(objects, model);
  std::vector<ListedSwitch> list;
  for (const HyperNodeObject& from : objects.hyper_nodes) {
    ListedSwitch& one = list.emplace_back();
    one.name = from.name;
    one.file = from.at.file;
    one.line = from.at.line;
    one.level = fmt::format("tier-{}", from.tier);
    for (const HyperNodeMember& member : from.members) {
      for (std::string& name : matcher.names(from, member)) (member.hyper_node ? one.switches : one.nodes).push_back(std::move(name));
    }
  }
  // A cycle is reported as one, not by the tiers that it must break.
  TopologyModel tree(model);
  add_switches(list, TopologyKind::kSwitch, "HyperNode", tree);
  check_tiers(objects.hyper_nodes, list);
  return tree;
}

}  // namespace berth::io
