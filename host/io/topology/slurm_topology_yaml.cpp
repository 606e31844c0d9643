#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "host/core/base/split.hpp"
#include "host/io/files/yaml_text.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/kai/kai_json.hpp"
#include "host/io/topology/slurm_hostlist.hpp"
#include "host/io/topology/slurm_topology.hpp"

namespace berth::io {
namespace {

using kai::elements;
using kai::fields;

/// One entry of the list.
struct YamlTopology {
  std::string name;
  bool is_default = false, tree = false, block = false, flat = false;
  SlurmTopology content;
  int line = 0;
};

class SlurmYaml {
 public:
  SlurmYaml(JsonCursor& in, std::int64_t& names_left) : in_(in), lines_(in.text()), names_left_(names_left) {}

  std::vector<YamlTopology> read() {
    std::vector<YamlTopology> all;
    std::set<std::string> names;
    in_.array([&] {
      const char* const at = in_.next_mark();
      read_topology(all.emplace_back());
      all.back().line = lines_.line_of(at);
      if (all.back().name.empty()) in_.fail_at(at, "a topology without 'topology', its name");
      if (!names.insert(all.back().name).second) in_.fail_at(at, fmt::format("duplicate topology '{}'", all.back().name));
      const int kinds = all.back().tree + all.back().block + all.back().flat;
      if (kinds != 1) in_.fail_at(at, fmt::format("topology '{}' needs one of tree, block and flat, and has {}", all.back().name, kinds));
    });
    in_.finish();
    return all;
  }

 private:
  // A name or list may look like a number.
  std::string text() {
    switch (in_.type()) {
      case JsonType::kString:
        return std::string(in_.string());
      case JsonType::kNull:
        in_.null();
        return {};
      case JsonType::kNumber:
        return std::string(in_.raw());
      default:
        return std::string(in_.string());
    }
  }

  void read_topology(YamlTopology& out) {
    out.content.found = true;
    const auto torus = [&] { in_.fail("a torus is no tree: describe it with switches or blocks"); };
    fields(in_, {{"topology", [&] { out.name = text(); }},
                 {"cluster_default", [&] { out.is_default = kai::flag(in_); }},
                 {"flat", [&] { out.flat = kai::flag(in_); }},
                 {"torus3d", torus},
                 {"tree",
                  [&] {
                    out.tree = true;
                    const auto switches = [&] { elements(in_, [&] { read_switch(out.content.switches, "switch", "children"); }); };
                    fields(in_, {{"switches", switches}});
                  }},
                 {"block", [&] {
                    out.block = true;
                    read_block(out.content);
                  }}});
  }

  void read_block(SlurmTopology& out) {
    const auto size = [&] {
      const std::string value = text();
      const auto nodes = core::parse_whole(value, kMaxNodes);
      if (!nodes || *nodes == 0) in_.fail(fmt::format("block_sizes: '{}' is no number of nodes", cut_utf8(value, 60)));
      out.block_sizes.push_back(*nodes);
      if (out.sizes_line == 0) out.sizes_line = lines_.line_of(in_.mark());
    };
    fields(in_, {{"block_sizes", [&] { elements(in_, size); }},
                 {"blocks", [&] { elements(in_, [&] { read_switch(out.blocks, "block", ""); }); }}});
  }

  void read_switch(std::vector<ListedSwitch>& list, std::string_view key, std::string_view children) {
    const char* const at = in_.next_mark();
    ListedSwitch one;
    one.line = lines_.line_of(at);
    const auto names = [&](std::vector<std::string>& to) {
      const std::string value = text();
      const std::string problem = expand_hostlist(value, names_left_, to);
      if (!problem.empty()) in_.fail(fmt::format("'{}' is no list of names: {}", cut_utf8(value, 60), problem));
    };
    const auto name = [&] {
      one.name = text();
      const std::string problem = switch_name_problem(one.name);
      if (!problem.empty()) in_.fail(problem);
    };
    fields(in_, {{key, name}, {"nodes", [&] { names(one.nodes); }}, {children, [&] { names(one.switches); }}});
    if (one.name.empty()) in_.fail_at(at, fmt::format("the field '{}' is missing", key));
    if (!one.nodes.empty() && !one.switches.empty())
      in_.fail_at(at, fmt::format("switch '{}' has children and nodes: it needs one of them", one.name));
    list.push_back(std::move(one));
  }

  JsonCursor& in_;
  LineCounter lines_;
  std::int64_t& names_left_;
};

// The named one, the default of the cluster, or the first.
template <class IsOf>
const YamlTopology* chosen(const std::vector<YamlTopology>& all, const std::string& name, ImportNotes& notes, IsOf&& is_of) {
  const YamlTopology* best = nullptr;
  for (const YamlTopology& one : all) {
    if (!is_of(one)) continue;
    const bool better = !name.empty() ? one.name == name : one.is_default;
    const bool settled = best != nullptr && (!name.empty() ? best->name == name : best->is_default);
    if (best == nullptr || (better && !settled)) best = &one;
  }
  for (const YamlTopology& one : all) {
    if (is_of(one) && &one != best) notes.count("topology", fmt::format(" other than '{}' left out", best->name), one.name);
  }
  return best;
}

}  // namespace

bool looks_like_slurm_yaml(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return false;
  const std::string_view rest = text.substr(first);
  return rest.substr(0, 3) == "---" || (rest[0] == '-' && (rest.size() == 1 || rest[1] == ' ' || rest[1] == '\n'));
}

std::size_t read_slurm_topology_yaml(std::string_view text, int first_line, const std::string& file, const std::string& topology,
                                     SlurmTopology& out, ImportNotes& notes, std::int64_t& names_left) {
  if (out.found) fail_topology(file, first_line, kSecondTopology);
  std::size_t end = 0;
  while (end < text.size() && text[end] != '{') end = std::min(text.find('\n', end), text.size() - 1) + 1;
  const std::string json = json_of_yaml(text.substr(0, end), file, first_line);
  JsonCursor in(json, file);
  const std::vector<YamlTopology> all = SlurmYaml(in, names_left).read();
  const auto named = [&](const YamlTopology& one) { return one.name == topology; };
  if (!topology.empty() && std::none_of(all.begin(), all.end(), named))
    fail_topology(file, first_line, fmt::format("there is no topology '{}'", cut_utf8(topology, 60)));
  const YamlTopology* const tree = chosen(all, topology, notes, [](const YamlTopology& one) { return one.tree; });
  const YamlTopology* const block = chosen(all, topology, notes, [](const YamlTopology& one) { return one.block; });
  out.found = out.from_yaml = true;
  if (tree != nullptr) out.switches = tree->content.switches;
  if (block != nullptr) {
    out.blocks = block->content.blocks;
    out.block_sizes = block->content.block_sizes;
    out.sizes_line = block->content.sizes_line;
  }
  return end;
}

}  // namespace berth::io
