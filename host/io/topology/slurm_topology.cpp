#include "host/io/topology/slurm_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "host/core/base/split.hpp"
#include "host/core/base/violations.hpp"
#include "host/io/files/name_problem.hpp"
#include "host/io/json/distinct_keys.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/topology/block_sizes.hpp"
#include "host/io/topology/slurm_hostlist.hpp"

namespace berth::io {
namespace {

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

void read_sizes(const JsonCursor& in, std::string_view line, std::string_view value, int number, SlurmTopology& out) {
  if (!out.block_sizes.empty()) in.fail_at(line.data(), "a second line BlockSizes=");
  for (const std::string_view part : core::split(value, ',')) {
    const auto size = core::parse_whole(part, kMaxNodes);
    if (!size || *size == 0) in.fail_at(line.data(), fmt::format("BlockSizes: '{}' is no number of nodes", cut_utf8(part, 60)));
    out.block_sizes.push_back(*size);
  }
  out.sizes_line = number;
}

void read_line(const JsonCursor& in, std::string_view line, int number, SlurmTopology& out, ImportNotes& notes, std::int64_t& names_left) {
  const auto words = words_of(line);
  if (words.empty()) return;
  const std::string& kind = words.front().first;
  if (out.from_yaml) in.fail_at(line.data(), kSecondTopology);
  out.found = true;
  if (kind == "blocksizes") return read_sizes(in, line, words.front().second, number, out);
  if (kind == "aggregatedblock") {
    notes.count("line", fmt::format(" of the topology left out: {}; only blocks themselves are used", kind),
                fmt::format("{}={}", kind, words.front().second));
    return;
  }
  if (kind == "ringname") in.fail_at(line.data(), "a ring is no tree: describe it with switches or blocks");
  if (kind != "switchname" && kind != "blockname") {
    in.fail_at(line.data(),
               fmt::format("'{}' begins no JSON and no line of a topology: expected '{{', SwitchName= or BlockName=", cut_utf8(line, 60)));
  }
  DistinctKeys keys;
  for (const auto& [key, value] : words) {
    if (!keys.add(key)) in.fail_at(line.data(), fmt::format("'{}' stands twice on this line", cut_utf8(key, 60)));
  }
  ListedSwitch one;
  one.line = number;
  one.name = words.front().second;
  const std::string bad = switch_name_problem(one.name);
  if (!bad.empty()) in.fail_at(line.data(), bad);
  for (const auto& [key, value] : words) {
    if (key == "linkspeed") {
      const auto speed = core::parse_whole(value, UINT32_MAX);
      if (!speed) in.fail_at(line.data(), fmt::format("LinkSpeed: '{}' is no whole number", cut_utf8(value, 60)));
      if (*speed == 0) in.fail_at(line.data(), fmt::format("the links of '{}' have no capacity: LinkSpeed=0", one.name));
      one.link_speed = *speed;
    }
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

void check_blocks(const SlurmTopology& topology, const std::string& file) {
  if (topology.block_sizes.empty()) return;
  const std::string problem = block_sizes_problem(topology.block_sizes);
  if (!problem.empty()) fail_topology(file, topology.sizes_line, problem);
  const std::int64_t base = topology.block_sizes.front();
  for (const ListedSwitch& block : topology.blocks) {
    const auto nodes = static_cast<std::int64_t>(block.nodes.size());
    if (nodes == 0 || nodes >= base) continue;  // an empty one completes a larger one
    fail_topology(file, block.line,
                  fmt::format("block '{}' has {}, fewer than {}, the first of BlockSizes", block.name, core::counted(nodes, "node"), base));
  }
}

}  // namespace

std::string switch_name_problem(std::string_view name) {
  if (name.empty() || name.find('/') != name.npos) return fmt::format("'{}' is no name of a switch or block", cut_utf8(name, 60));
  const std::string problem = name_problem(name);
  return problem.empty() ? "" : fmt::format("'{}' is no name of a switch or block: {}", cut_utf8(name, 60), problem);
}

std::size_t read_slurm_topology(const JsonCursor& in, LineCounter& lines, SlurmTopology& out, ImportNotes& notes,
                                std::int64_t& names_left) {
  const std::string_view text = in.rest();
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = std::min(text.find('\n', begin), text.size());
    // A backslash continues a line.
    while (end < text.size() && end > begin && text[end - 1] == '\\') end = std::min(text.find('\n', end + 1), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t first = line.find_first_not_of(" \t\r\n");
    if (first != line.npos && (line[first] == '{' || looks_like_slurm_yaml(line))) return begin;
    read_line(in, line, lines.line_of(line.data()), out, notes, names_left);
    begin = end + 1;
  }
  return text.size();
}

void add_slurm_topology(const SlurmTopology& topology, TopologyModel& model) {
  check_blocks(topology, model.file());
  std::vector<ListedSwitch> switches = topology.switches;
  // Equal speeds say nothing: 'scontrol' prints LinkSpeed=1 where none is stated.
  const bool equal =
      std::all_of(switches.begin(), switches.end(), [&](const ListedSwitch& one) { return one.link_speed == switches.front().link_speed; });
  for (ListedSwitch& one : switches) one.link_speed = equal ? 0 : one.link_speed;
  add_switches(switches, TopologyKind::kSwitch, "switch", model);
  std::vector<ListedSwitch> blocks = topology.blocks;
  for (ListedSwitch& one : blocks) one.level = kBlockLevel;
  add_switches(blocks, TopologyKind::kNvlink, "block", model);
  model.block_sizes = topology.block_sizes;
}

}  // namespace berth::io
