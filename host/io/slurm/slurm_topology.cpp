#include "host/io/slurm/slurm_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <optional>
#include <string>

#include "host/io/files/name_problem.hpp"
#include "host/io/json/distinct_keys.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/slurm/slurm_hostlist.hpp"

namespace berth::io {
namespace {

constexpr std::array<std::string_view, 6> kSwitchLevels{"leaf", "spine", "core", "level4", "level5", "level6"};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// "Key=Value" words of one line; a comment ends it.
std::vector<std::pair<std::string, std::string_view>> words_of(std::string_view line) {
  std::vector<std::pair<std::string, std::string_view>> out;
  line = line.substr(0, line.find('#'));
  constexpr std::string_view kBlank = " \t\r\n\\";
  for (;;) {
    const std::size_t begin = line.find_first_not_of(kBlank);
    if (begin == line.npos) return out;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find_first_of(kBlank));
    line.remove_prefix(word.size());
    const std::size_t equals = word.find('=');
    out.emplace_back(lower(word.substr(0, equals)), equals == word.npos ? std::string_view() : word.substr(equals + 1));
  }
}

void read_line(const JsonCursor& in, std::string_view line, SlurmTopology& out, SlurmNotes& notes, std::int64_t& names_left) {
  const auto words = words_of(line);
  if (words.empty()) return;
  const std::string& kind = words.front().first;
  if (kind == "blocksizes" || kind == "aggregatedblock") {
    notes.count("line", fmt::format(" of the topology left out: {}; only blocks themselves are used", kind),
                fmt::format("{}={}", kind, words.front().second));
    return;
  }
  if (kind != "switchname" && kind != "blockname") {
    in.fail_at(line.data(),
               fmt::format("'{}' begins no JSON and no line of a topology: expected '{{', SwitchName= or BlockName=", cut_utf8(line, 60)));
  }
  DistinctKeys keys;
  for (const auto& [key, value] : words) {
    if (!keys.add(key)) in.fail_at(line.data(), fmt::format("'{}' stands twice on this line", cut_utf8(key, 60)));
  }
  SlurmSwitch one;
  one.at = line.data();
  one.name = words.front().second;
  if (one.name.empty() || one.name.find('/') != one.name.npos) {
    in.fail_at(line.data(), fmt::format("'{}' is no name of a switch or block", one.name));
  }
  const std::string bad = name_problem(one.name);
  if (!bad.empty()) in.fail_at(line.data(), fmt::format("'{}' is no name of a switch or block: {}", cut_utf8(one.name, 60), bad));
  for (const auto& [key, value] : words) {
    if (key != "nodes" && key != "switches") continue;
    const std::string problem = expand_hostlist(value, names_left, key == "nodes" ? one.nodes : one.switches);
    if (!problem.empty()) in.fail_at(line.data(), fmt::format("'{}' is no list of names: {}", cut_utf8(value, 60), problem));
  }
  // 'scontrol' also lists, for a switch of switches, the nodes of all of them.
  if (!one.switches.empty()) one.nodes.clear();
  if (out.switches.size() + out.blocks.size() == static_cast<std::size_t>(kMaxNodes))
    in.fail_at(line.data(), fmt::format("more than {} switches and blocks", kMaxNodes));
  (kind == "switchname" ? out.switches : out.blocks).push_back(std::move(one));
}

constexpr std::size_t kNoParent = SIZE_MAX;

// Parents and heights of the switches.
struct Tree {
  std::vector<std::size_t> parent;
  std::vector<std::size_t> height;  // 0: not known yet
};

// Index by name.
std::unordered_map<std::string_view, std::size_t> index_of(const JsonCursor& in, const std::vector<SlurmSwitch>& list, const char* what) {
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!index.emplace(list[i].name, i).second) in.fail_at(list[i].at, fmt::format("duplicate {} '{}'", what, list[i].name));
  }
  return index;
}

Tree tree_of(const JsonCursor& in, const std::vector<SlurmSwitch>& switches) {
  const std::unordered_map<std::string_view, std::size_t> index = index_of(in, switches, "switch");
  Tree tree{std::vector<std::size_t>(switches.size(), kNoParent), std::vector<std::size_t>(switches.size(), 0)};
  for (std::size_t i = 0; i < switches.size(); ++i) {
    for (const std::string& child : switches[i].switches) {
      const auto found = index.find(child);
      if (found == index.end()) in.fail_at(switches[i].at, fmt::format("there is no switch '{}'", child));
      std::size_t& parent = tree.parent[found->second];
      if (parent != kNoParent && parent != i) {
        in.fail_at(switches[i].at,
                   fmt::format("switch '{}' lies below '{}' and '{}': no tree", child, switches[parent].name, switches[i].name));
      }
      parent = i;
    }
  }
  // The height of a switch is its longest path down; a path longer than the number of switches is a cycle.
  for (std::size_t leaf = 0; leaf < switches.size(); ++leaf) {
    if (!switches[leaf].switches.empty()) continue;
    std::size_t height = 1;
    for (std::size_t i = leaf; i != kNoParent && tree.height[i] < height; i = tree.parent[i]) {
      tree.height[i] = height++;
      if (height > kSwitchLevels.size() + 1) {
        in.fail_at(switches[i].at,
                   fmt::format("switch '{}' is more than {} levels above the nodes", switches[i].name, kSwitchLevels.size()));
      }
    }
  }
  for (std::size_t i = 0; i < switches.size(); ++i) {
    if (tree.height[i] == 0) in.fail_at(switches[i].at, fmt::format("switch '{}' lies below itself", switches[i].name));
  }
  return tree;
}

void place_nodes(const JsonCursor& in, const SlurmSwitch& one, TopologyKind topology, const std::string& path,
                 const std::unordered_map<std::string_view, std::size_t>& rank, std::vector<Node>& nodes, SlurmNotes& notes) {
  for (const std::string& name : one.nodes) {
    const auto found = rank.find(name);
    if (found == rank.end()) {
      notes.count("node", " of the topology left out: not among the nodes with GPUs", name);
      continue;
    }
    std::string& domain = nodes[found->second].domain[static_cast<std::size_t>(topology)];
    if (!domain.empty() && domain != path) {
      in.fail_at(one.at, fmt::format("node '{}' lies in '{}' and in '{}': no tree", name, domain, path));
    }
    domain = path;
  }
}

}  // namespace

std::size_t read_slurm_topology(const JsonCursor& in, SlurmTopology& out, SlurmNotes& notes, std::int64_t& names_left) {
  const std::string_view text = in.rest();
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = std::min(text.find('\n', begin), text.size());
    // A backslash continues a line.
    while (end < text.size() && end > begin && text[end - 1] == '\\') end = std::min(text.find('\n', end + 1), text.size());
    std::string line(text.substr(begin, end - begin));
    const std::size_t first = line.find_first_not_of(" \t\r\n");
    if (first != line.npos && line[first] == '{') return begin;
    read_line(in, text.substr(begin, end - begin), out, notes, names_left);
    begin = end + 1;
  }
  return text.size();
}

void apply_slurm_topology(const JsonCursor& in, const SlurmTopology& topology,
                          const std::unordered_map<std::string_view, std::size_t>& rank, std::vector<Node>& nodes,
                          std::vector<Domain>& domains, SlurmNotes& notes) {
  const std::vector<SlurmSwitch>& switches = topology.switches;
  const Tree tree = tree_of(in, switches);
  index_of(in, topology.blocks, "block");
  const auto path_of = [&](std::size_t i) {
    std::string path = switches[i].name;
    for (std::size_t p = tree.parent[i]; p != kNoParent; p = tree.parent[p]) path.insert(0, switches[p].name + '/');
    return path;
  };
  const auto add = [&](const SlurmSwitch& one, TopologyKind kind, std::string_view level, const std::string& path) {
    Domain& domain = domains.emplace_back();
    domain.id = one.name;
    domain.topology = kind;
    domain.level = level;
    if (path.size() > one.name.size()) domain.parent = path.substr(0, path.size() - one.name.size() - 1);
    place_nodes(in, one, kind, path, rank, nodes, notes);
  };
  for (std::size_t i = 0; i < switches.size(); ++i) add(switches[i], TopologyKind::kSwitch, kSwitchLevels[tree.height[i] - 1], path_of(i));
  for (const SlurmSwitch& block : topology.blocks) add(block, TopologyKind::kNvlink, kSlurmBlockLevel, block.name);
}

}  // namespace berth::io
