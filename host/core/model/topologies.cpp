#include "host/core/model/topologies.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/input_location.hpp"
#include "host/core/model/level_order.hpp"

namespace berth::core {

// One domain while the tree is built.
struct Topologies::Tree {
  // Children in path order: nodes on their own, then unnamed domains by the named one that they hold, then named ones.
  static constexpr std::int32_t kNamed = INT32_MAX;
  struct Key {
    std::int32_t kind = 0;  // 0: a node, else the level of the named domain below, else kNamed
    std::string_view id;
    bool operator<(const Key& other) const { return std::tie(kind, id) < std::tie(other.kind, other.id); }
  };

  std::int32_t level = 0;
  bool named = false;
  std::string path;
  const Domain* description = nullptr;
  std::map<Key, std::int32_t> children;
  std::vector<std::int32_t> nodes;  // at level 1
};

namespace {

// Nodes are large: each moves once. Mostly they are in the order of the last build, which a merge sort is fast with.
void sort_by_id(std::vector<Node>& nodes) {
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return nodes[a].id < nodes[b].id; });
  std::vector<Node> sorted;
  sorted.reserve(nodes.size());
  for (const std::size_t n : order) sorted.push_back(std::move(nodes[n]));
  nodes = std::move(sorted);
}

}  // namespace

void Topologies::build(const std::vector<Domain>& domains, std::vector<Node>& nodes) {
  n_nodes_ = static_cast<std::int32_t>(nodes.size());
  for (auto* column : {&first_, &last_, &child_first_, &child_last_, &parent_, &topology_of_, &level_of_}) column->clear();
  named_.clear();
  path_.clear();
  description_.clear();
  sort_by_id(nodes);
  const std::string file = "state";
  const LevelOrder levels = order_levels(domains, InputLocation(file));
  for (int topology = 0; topology < kTopologyKinds; ++topology) build_topology(topology, levels[to_index(topology)], domains, nodes);
}

void Topologies::build_topology(int topology, const std::vector<std::string>& levels_up, const std::vector<Domain>& domains,
                                std::vector<Node>& nodes) {
  TopologyColumns& columns = topologies_[to_index(topology)];
  columns.names = levels_up;
  columns.names.insert(columns.names.begin(), "node");
  columns.names.push_back("cluster");
  const auto top = static_cast<std::int32_t>(columns.names.size()) - 1;

  std::unordered_map<std::string, const Domain*> by_path;
  std::unordered_map<std::string_view, std::int32_t> level_of_name;
  for (std::int32_t l = 0; l <= top; ++l) level_of_name.emplace(columns.names[to_index(l)], l);
  for (const Domain& d : domains) {
    if (d.topology == static_cast<TopologyKind>(topology)) by_path.emplace(domain_path(d), &d);
  }

  std::vector<Tree> tree(1);
  tree[0].level = top;
  tree[0].path = "the cluster";
  std::unordered_map<std::string, std::int32_t> leaf_of_path;  // nodes of one path share their leaf
  for (std::int32_t n = 0; n < n_nodes_; ++n) {
    const std::string& path = nodes[to_index(n)].domain[to_index(topology)];
    auto leaf = leaf_of_path.find(path);
    if (leaf == leaf_of_path.end()) {
      std::vector<const Domain*> chain(to_index(top), nullptr);  // by level
      for (auto d = by_path.find(path); d != by_path.end(); d = by_path.find(d->second->parent)) {
        chain[to_index(level_of_name.at(d->second->level))] = d->second;
      }
      // What is in no domain of a level is there on its own: a node, or all of a named domain below.
      const auto key_at = [&](std::int32_t l) {
        if (const Domain* d = chain[to_index(l)]) return Tree::Key{Tree::kNamed, d->id};
        while (--l >= 1) {
          if (const Domain* d = chain[to_index(l)]) return Tree::Key{l, d->id};
        }
        return Tree::Key{0, nodes[to_index(n)].id};
      };
      std::int32_t here = 0;
      for (std::int32_t l = top - 1; l >= 1; --l) {
        const Domain* d = chain[to_index(l)];
        auto [child, grown] = tree[to_index(here)].children.try_emplace(key_at(l), static_cast<std::int32_t>(tree.size()));
        if (grown) {
          Tree t;
          t.level = l;
          t.named = d != nullptr;
          t.description = d;
          t.path = d ? domain_path(*d) : (here == 0 ? "" : tree[to_index(here)].path + "/") + "(unnamed)";
          const std::int32_t id = child->second;  // `child` is invalid once the vector grows
          tree.push_back(std::move(t));
          here = id;
        } else {
          here = child->second;
        }
      }
      if (top > 1 && chain[1] == nullptr) {  // a leaf of this node alone
        tree[to_index(here)].nodes.push_back(n);
        continue;
      }
      leaf = leaf_of_path.emplace(path, here).first;
    }
    tree[to_index(leaf->second)].nodes.push_back(n);
  }

  // Breadth-first from the top gives each level in path order, with children of one parent adjacent.
  std::vector<std::vector<std::int32_t>> levels(to_index(top) + 1);
  levels[to_index(top)] = {0};
  for (std::int32_t l = top; l >= 2; --l) {
    for (const std::int32_t t : levels[to_index(l)]) {
      for (const auto& [key, child] : tree[to_index(t)].children) levels[to_index(l) - 1].push_back(child);
    }
  }
  columns.order.clear();
  for (const std::int32_t t : levels[1])
    columns.order.insert(columns.order.end(), tree[to_index(t)].nodes.begin(), tree[to_index(t)].nodes.end());
  if (topology == static_cast<int>(TopologyKind::kSwitch)) {
    // This order is the node rank; renumber so that it becomes the identity.
    std::vector<Node> ranked;
    ranked.reserve(nodes.size());
    for (const std::int32_t n : columns.order) ranked.push_back(std::move(nodes[to_index(n)]));
    nodes = std::move(ranked);
    std::iota(columns.order.begin(), columns.order.end(), 0);
  }
  columns.ranked = std::is_sorted(columns.order.begin(), columns.order.end());

  const auto n = static_cast<std::size_t>(n_nodes_);
  columns.node_domain.assign((to_index(top) + 1) * n, 0);
  const auto base = static_cast<std::int32_t>(first_.size());
  std::vector<std::int32_t> id_of(tree.size());
  std::int32_t next = base;
  columns.level_begin.fill(base);
  for (std::int32_t l = 1; l <= top; ++l) {
    columns.level_begin[to_index(l)] = next;
    for (const std::int32_t t : levels[to_index(l)]) id_of[to_index(t)] = next++;
  }
  for (std::int32_t l = top + 1; l <= kMaxLevels; ++l) columns.level_begin[to_index(l)] = next;

  std::int32_t position = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> below;  // ranges of the level below, in order
  for (std::int32_t l = 1; l <= top; ++l) {
    std::size_t child = 0;
    std::vector<std::pair<std::int32_t, std::int32_t>> ranges;
    for (const std::int32_t t : levels[to_index(l)]) {
      const Tree& domain = tree[to_index(t)];
      std::int32_t first = position;
      std::int32_t last = position;
      std::int32_t kid_first = 0;
      std::int32_t kid_last = 0;
      if (l == 1) {
        last = position += static_cast<std::int32_t>(domain.nodes.size());
      } else {
        kid_first = columns.level_begin[to_index(l) - 1] + static_cast<std::int32_t>(child);
        kid_last = kid_first + static_cast<std::int32_t>(domain.children.size());
        if (!domain.children.empty()) {
          first = below[child].first;
          last = below[child + domain.children.size() - 1].second;
        } else {
          first = last = 0;
        }
        child += domain.children.size();
      }
      ranges.emplace_back(first, last);
      first_.push_back(first);
      last_.push_back(last);
      child_first_.push_back(kid_first);
      child_last_.push_back(kid_last);
      parent_.push_back(kernel::kNone);
      topology_of_.push_back(topology);
      level_of_.push_back(l);
      named_.push_back(domain.named ? 1 : 0);
      path_.push_back(domain.path);
      description_.push_back(domain.description);
      for (std::int32_t c = kid_first; c < kid_last; ++c) parent_[to_index(c)] = id_of[to_index(t)];
      for (std::int32_t p = first; p < last; ++p)
        columns.node_domain[to_index(l) * n + to_index(columns.order[to_index(p)])] = id_of[to_index(t)];
    }
    below = std::move(ranges);
  }
}

void Topologies::fill(kernel::ProblemView& view) const {
  for (std::size_t f = 0; f < kTopologyKinds; ++f) {
    view.topology[f].levels = static_cast<std::int32_t>(topologies_[f].names.size());
    view.topology[f].ranked = topologies_[f].ranked ? 1 : 0;
    view.topology[f].order = topologies_[f].order.data();
    view.topology[f].node_domain = topologies_[f].node_domain.data();
    std::copy(topologies_[f].level_begin.begin(), topologies_[f].level_begin.end(), view.topology[f].level_begin);
  }
  view.domains = {static_cast<std::int32_t>(first_.size()),
                  first_.data(),
                  last_.data(),
                  child_first_.data(),
                  child_last_.data(),
                  parent_.data(),
                  named_.data()};
}

std::int32_t Topologies::level(TopologyKind topology, std::string_view name) const {
  const auto& names = topologies_[static_cast<std::size_t>(topology)].names;
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<std::int32_t>(found - names.begin());
}

const std::string& Topologies::level_name(std::int32_t topology, std::int32_t level) const {
  return topologies_[to_index(topology)].names[to_index(level)];
}

std::int32_t Topologies::nvlink_domain(std::int32_t node) const {
  constexpr auto kNvlink = static_cast<std::int32_t>(TopologyKind::kNvlink);
  if (levels(kNvlink) <= 2) return -1;  // only nodes and the cluster: no domain is named
  const std::int32_t domain = domain_of(kNvlink, 1, node);
  return named_[to_index(domain)] != 0 ? domain : -1;
}

std::int32_t Topologies::find(TopologyKind topology, std::string_view path) const {
  const TopologyColumns& f = topologies_[static_cast<std::size_t>(topology)];
  for (std::int32_t d = f.level_begin[1]; d < f.level_begin[kMaxLevels]; ++d) {
    if (named_[to_index(d)] != 0 && path_[to_index(d)] == path) return d;
  }
  return -1;
}

}  // namespace berth::core
