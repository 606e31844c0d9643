#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "tests/support/problem_builder.hpp"

namespace berth::test {
namespace {

using Path = std::vector<std::string>;

Path prefix(const Path& path, int n) { return Path(path.begin(), path.begin() + n); }

std::int32_t count(const std::vector<std::int32_t>& v) { return static_cast<std::int32_t>(v.size()); }

// Appends the domains of one level and returns their start. `below` is the start of the level below.
std::int32_t append_level(const std::vector<Path>& paths, int length, int level, std::int32_t below, TopologyColumns& topology,
                          Problem& p) {
  const std::int32_t begin = count(p.domain_first);
  const auto n = static_cast<std::int32_t>(topology.order.size());
  std::int32_t position = 0;
  std::int32_t child = below;
  do {  // at least once: the cluster exists even without nodes
    if (n == 0 && length > 0) break;
    const std::int32_t id = count(p.domain_first);
    const Path key = n == 0 ? Path{} : prefix(paths[static_cast<std::size_t>(topology.order[static_cast<std::size_t>(position)])], length);
    p.domain_first.push_back(position);
    for (; position < n; ++position) {
      const auto node = static_cast<std::size_t>(topology.order[static_cast<std::size_t>(position)]);
      if (prefix(paths[node], length) != key) break;
      topology.node_domain[static_cast<std::size_t>(level) * paths.size() + node] = id;
    }
    p.domain_last.push_back(position);
    p.domain_child_first.push_back(level == 1 ? 0 : child);
    while (level > 1 && child < begin && p.domain_last[static_cast<std::size_t>(child)] <= position) {
      p.domain_parent[static_cast<std::size_t>(child++)] = id;
    }
    p.domain_child_last.push_back(level == 1 ? 0 : child);
    p.domain_parent.push_back(kernel::kNone);
    p.domain_named.push_back(length > 0 && !key.back().empty() ? 1 : 0);
  } while (position < n);
  return begin;
}

}  // namespace

std::vector<std::string> path_parts(const std::string& path, std::size_t n) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; !path.empty();) {
    const std::size_t slash = path.find('/', at);
    parts.push_back(path.substr(at, slash == std::string::npos ? slash : slash - at));
    if (slash == std::string::npos) break;
    at = slash + 1;
  }
  if (parts.size() < n) parts.resize(n);
  return parts;
}

void build_topologies(const std::vector<NodeSpec>& nodes, const std::array<int, 5>& named, Problem& p) {
  for (std::size_t f = 0; f < p.topology.size(); ++f) {
    auto length = static_cast<std::size_t>(named[f]);
    for (const NodeSpec& node : nodes) length = std::max(length, path_parts(node.path[f], 0).size());
    if (length + 2 > kMaxLevels) throw std::logic_error("too many levels");
    std::vector<Path> paths;
    for (const NodeSpec& node : nodes) paths.push_back(path_parts(node.path[f], length));
    if (f == 0 && !std::is_sorted(paths.begin(), paths.end())) throw std::logic_error("nodes must come in the order of their switch path");

    TopologyColumns& topology = p.topology[f];
    topology.levels = static_cast<std::int32_t>(length) + 2;
    topology.order.resize(nodes.size());
    std::iota(topology.order.begin(), topology.order.end(), 0);
    std::stable_sort(topology.order.begin(), topology.order.end(), [&](std::int32_t a, std::int32_t b) {
      return paths[static_cast<std::size_t>(a)] < paths[static_cast<std::size_t>(b)];
    });
    topology.node_domain.assign(static_cast<std::size_t>(topology.levels) * nodes.size(), kernel::kNone);
    topology.level_begin.fill(count(p.domain_first));
    for (int level = 1; level < topology.levels; ++level) {
      const std::int32_t below = topology.level_begin[static_cast<std::size_t>(level) - 1];
      const int parts = static_cast<int>(length) - level + 1;
      topology.level_begin[static_cast<std::size_t>(level)] = append_level(paths, parts, level, below, topology, p);
    }
    for (auto l = static_cast<std::size_t>(topology.levels); l < topology.level_begin.size(); ++l)
      topology.level_begin[l] = count(p.domain_first);
  }
}

}  // namespace berth::test
