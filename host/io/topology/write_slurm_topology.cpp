#include <fmt/format.h>

#include <algorithm>

#include "berth/error.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/topology/block_sizes.hpp"
#include "host/io/topology/domain_names.hpp"
#include "host/io/topology/slurm_hostlist.hpp"
#include "host/io/topology/topology_formats.hpp"

namespace berth::io {
namespace {

bool is_slurm_switch(std::string_view name) {
  constexpr std::size_t kMostBytes = 64;
  return name.size() <= kMostBytes && is_host_name(name) && name.find('/') == name.npos;
}

struct WrittenSwitch {
  std::string name, comment;
  std::string nodes, children;  // hostlists
};

std::vector<std::string> ids_of(const TopologyModel& model, const std::vector<std::size_t>& nodes) {
  std::vector<std::string> out;
  out.reserve(nodes.size());
  for (const std::size_t n : nodes) out.push_back(model.nodes[n].id);
  return out;
}

// A domain of several switches is a line each. A switch has switches or nodes: nodes of a switch of switches get one.
std::vector<WrittenSwitch> written_switches(const TopologyModel& model) {
  constexpr auto kKind = TopologyKind::kSwitch;
  const std::vector<ModelDomain>& domains = model.of(kKind);
  const DomainNames named = domain_names(model, kKind, "switch", is_slurm_switch);
  const DomainMembers members = domain_members(model, kKind);
  std::vector<WrittenSwitch> out;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    WrittenSwitch one{named.names[d], "", "", ""};
    if (named.made[d]) one.comment = fmt::format("{}={}", one.name, model.path(kKind, static_cast<std::int32_t>(d)));
    std::vector<std::string> children;
    for (const std::size_t child : members.domains[d]) {
      children.push_back(named.names[child]);
      children.insert(children.end(), domains[child].parallel.begin(), domains[child].parallel.end());
    }
    if (children.empty()) {
      one.nodes = compact_hostlist(ids_of(model, members.nodes[d]));
    } else if (!members.nodes[d].empty()) {
      throw InvalidArgument(fmt::format("'{}' has nodes and domains below it, and a switch of Slurm has one of them",
                                        model.path(kKind, static_cast<std::int32_t>(d))));
    }
    if (one.nodes.empty() && children.empty()) continue;
    one.children = compact_hostlist(children);
    out.push_back(one);
    for (const std::string& name : domains[d].parallel) {
      if (!is_slurm_switch(name)) throw InvalidArgument(fmt::format("'{}' is no name of a switch in Slurm", cut_utf8(name, 60)));
      out.push_back({name, "", one.nodes, one.children});
    }
  }
  return out;
}

// The lowest domains are the blocks.
std::vector<WrittenSwitch> written_blocks(const TopologyModel& model, std::vector<std::int64_t>& sizes) {
  constexpr auto kKind = TopologyKind::kNvlink;
  const DomainNames named = domain_names(model, kKind, "block", is_slurm_switch);
  const DomainMembers members = domain_members(model, kKind);
  std::vector<WrittenSwitch> out;
  std::vector<std::int64_t> blocks;
  std::vector<std::int64_t> domains(members.domains.size(), 0);
  bool nested = false;
  for (std::size_t d = 0; d < members.domains.size(); ++d) {
    nested = nested || !members.domains[d].empty();
    if (!members.domains[d].empty() && !members.nodes[d].empty())
      throw InvalidArgument(fmt::format("'{}' has nodes and domains below it, and a block of Slurm has nodes",
                                        model.path(kKind, static_cast<std::int32_t>(d))));
    if (!members.domains[d].empty()) continue;
    blocks.push_back(static_cast<std::int64_t>(members.nodes[d].size()));
    std::int32_t root = static_cast<std::int32_t>(d);
    while (model.of(kKind)[static_cast<std::size_t>(root)].parent >= 0) root = model.of(kKind)[static_cast<std::size_t>(root)].parent;
    domains[static_cast<std::size_t>(root)] += blocks.back();
    WrittenSwitch one{named.names[d], "", compact_hostlist(ids_of(model, members.nodes[d])), ""};
    if (named.made[d]) one.comment = fmt::format("{}={}", one.name, model.path(kKind, static_cast<std::int32_t>(d)));
    out.push_back(std::move(one));
  }
  const bool equal = std::adjacent_find(blocks.begin(), blocks.end(), std::not_equal_to<>()) == blocks.end();
  sizes = !model.block_sizes.empty() ? model.block_sizes
          : nested && equal          ? inferred_block_sizes(blocks, domains)
                                     : inferred_block_sizes(blocks);
  return out;
}

void check_any(const std::vector<WrittenSwitch>& switches, const std::vector<WrittenSwitch>& blocks) {
  if (switches.empty() && blocks.empty()) throw InvalidArgument("no domain of topology switch or nvlink holds a node: nothing to write");
}

std::string quoted(const std::string& text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

}  // namespace

std::string write_slurm_conf(const TopologyModel& model) {
  std::vector<std::int64_t> sizes;
  const std::vector<WrittenSwitch> switches = written_switches(model), blocks = written_blocks(model, sizes);
  check_any(switches, blocks);
  std::string out;
  for (const WrittenSwitch& one : switches) {
    if (!one.comment.empty()) out += "# " + one.comment + '\n';
    out += one.children.empty() ? fmt::format("SwitchName={} Nodes={}\n", one.name, one.nodes)
                                : fmt::format("SwitchName={} Switches={}\n", one.name, one.children);
  }
  if (!switches.empty()) return out;
  for (const WrittenSwitch& one : blocks) {
    if (!one.comment.empty()) out += "# " + one.comment + '\n';
    out += one.nodes.empty() ? fmt::format("BlockName={}\n", one.name) : fmt::format("BlockName={} Nodes={}\n", one.name, one.nodes);
  }
  if (!sizes.empty()) out += fmt::format("BlockSizes={}\n", fmt::join(sizes, ","));
  return out;
}

std::string write_slurm_yaml(const TopologyModel& model) {
  std::vector<std::int64_t> sizes;
  const std::vector<WrittenSwitch> switches = written_switches(model), blocks = written_blocks(model, sizes);
  check_any(switches, blocks);
  std::string out = "---\n";
  const auto add = [&](const WrittenSwitch& one, const char* key) {
    if (!one.comment.empty()) out += "      # " + one.comment + '\n';
    out += fmt::format("      - {}: {}\n", key, quoted(one.name));
    if (!one.nodes.empty()) out += fmt::format("        nodes: {}\n", quoted(one.nodes));
    if (!one.children.empty()) out += fmt::format("        children: {}\n", quoted(one.children));
  };
  if (!switches.empty()) {
    out += "- topology: switch\n  cluster_default: true\n  tree:\n    switches:\n";
    for (const WrittenSwitch& one : switches) add(one, "switch");
  }
  if (!blocks.empty()) {
    out += fmt::format("- topology: nvlink\n  cluster_default: {}\n  block:\n", switches.empty());
    if (!sizes.empty()) out += fmt::format("    block_sizes: [{}]\n", fmt::join(sizes, ", "));
    out += "    blocks:\n";
    for (const WrittenSwitch& one : blocks) add(one, "block");
  }
  return out;
}

}  // namespace berth::io
