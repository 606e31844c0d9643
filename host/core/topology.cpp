#include "host/core/topology.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "host/core/at.hpp"
#include "host/core/level_order.hpp"
#include "host/core/where.hpp"

namespace berth::core {

// One domain while the tree is built; children by name, so that a walk visits them in path order.
struct Topology::Tree {
  std::int32_t level = 0;
  bool named = false;
  std::string path;
  const Domain* description = nullptr;
  std::map<std::string, std::int32_t> children;  // "" is the unnamed one
  std::vector<std::int32_t> nodes;               // at level 1
};

void Topology::build(const std::vector<Domain>& domains, std::vector<Node>& nodes) {
  n_nodes_ = static_cast<std::int32_t>(nodes.size());
  for (auto* column : {&first_, &last_, &child_first_, &child_last_, &parent_, &facet_of_, &level_of_}) column->clear();
  named_.clear();
  path_.clear();
  description_.clear();
  std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.id < b.id; });
  const std::string file = "state";
  const LevelOrder levels = order_levels(domains, Where(file));
  for (int facet = 0; facet < kFacets; ++facet) build_facet(facet, levels[at(facet)], domains, nodes);
}

void Topology::build_facet(int facet, const std::vector<std::string>& levels_up, const std::vector<Domain>& domains,
                           std::vector<Node>& nodes) {
  FacetColumns& columns = facets_[at(facet)];
  columns.names = levels_up;
  columns.names.insert(columns.names.begin(), "node");
  columns.names.push_back("cluster");
  const auto top = static_cast<std::int32_t>(columns.names.size()) - 1;

  std::unordered_map<std::string, const Domain*> by_path;
  std::unordered_map<std::string_view, std::int32_t> level_of_name;
  for (std::int32_t l = 0; l <= top; ++l) level_of_name.emplace(columns.names[at(l)], l);
  for (const Domain& d : domains) {
    if (d.facet == static_cast<Facet>(facet)) by_path.emplace(domain_path(d), &d);
  }

  std::vector<Tree> tree(1);
  tree[0].level = top;
  tree[0].path = "the cluster";
  std::unordered_map<std::string, std::int32_t> leaf_of_path;  // nodes of one path share their leaf
  for (std::int32_t n = 0; n < n_nodes_; ++n) {
    const std::string& path = nodes[at(n)].domain[at(facet)];
    auto [leaf, is_new] = leaf_of_path.try_emplace(path, 0);
    if (is_new) {
      std::vector<const Domain*> chain(at(top), nullptr);  // by level
      for (auto d = by_path.find(path); d != by_path.end(); d = by_path.find(d->second->parent)) {
        chain[at(level_of_name.at(d->second->level))] = d->second;
      }
      std::int32_t here = 0;
      for (std::int32_t l = top - 1; l >= 1; --l) {
        const Domain* d = chain[at(l)];
        auto [child, grown] = tree[at(here)].children.try_emplace(d ? d->id : "", static_cast<std::int32_t>(tree.size()));
        if (grown) {
          Tree t;
          t.level = l;
          t.named = d != nullptr;
          t.description = d;
          t.path = d ? domain_path(*d) : (here == 0 ? "" : tree[at(here)].path + "/") + "(unnamed)";
          const std::int32_t id = child->second;  // `child` dies when the vector grows
          tree.push_back(std::move(t));
          here = id;
        } else {
          here = child->second;
        }
      }
      leaf->second = here;
    }
    tree[at(leaf->second)].nodes.push_back(n);
  }

  // Breadth-first from the top gives each level in path order, with children of one parent side by side.
  std::vector<std::vector<std::int32_t>> levels(at(top) + 1);
  levels[at(top)] = {0};
  for (std::int32_t l = top; l >= 2; --l) {
    for (const std::int32_t t : levels[at(l)]) {
      for (const auto& [name, child] : tree[at(t)].children) levels[at(l) - 1].push_back(child);
    }
  }
  columns.order.clear();
  for (const std::int32_t t : levels[1]) columns.order.insert(columns.order.end(), tree[at(t)].nodes.begin(), tree[at(t)].nodes.end());
  if (facet == static_cast<int>(Facet::kSwitch)) {
    // This order is the node rank; renumber so that it becomes the identity.
    std::vector<Node> ranked;
    ranked.reserve(nodes.size());
    for (const std::int32_t n : columns.order) ranked.push_back(std::move(nodes[at(n)]));
    nodes = std::move(ranked);
    std::iota(columns.order.begin(), columns.order.end(), 0);
  }
  columns.ranked = std::is_sorted(columns.order.begin(), columns.order.end());

  const auto n = static_cast<std::size_t>(n_nodes_);
  columns.node_domain.assign((at(top) + 1) * n, 0);
  const auto base = static_cast<std::int32_t>(first_.size());
  std::vector<std::int32_t> id_of(tree.size());
  std::int32_t next = base;
  columns.level_begin.fill(base);
  for (std::int32_t l = 1; l <= top; ++l) {
    columns.level_begin[at(l)] = next;
    for (const std::int32_t t : levels[at(l)]) id_of[at(t)] = next++;
  }
  for (std::int32_t l = top + 1; l <= kMaxLevels; ++l) columns.level_begin[at(l)] = next;

  std::int32_t position = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> below;  // ranges of the level below, in order
  for (std::int32_t l = 1; l <= top; ++l) {
    std::size_t child = 0;
    std::vector<std::pair<std::int32_t, std::int32_t>> ranges;
    for (const std::int32_t t : levels[at(l)]) {
      const Tree& domain = tree[at(t)];
      std::int32_t first = position;
      std::int32_t last = position;
      std::int32_t kid_first = 0;
      std::int32_t kid_last = 0;
      if (l == 1) {
        last = position += static_cast<std::int32_t>(domain.nodes.size());
      } else {
        kid_first = columns.level_begin[at(l) - 1] + static_cast<std::int32_t>(child);
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
      facet_of_.push_back(facet);
      level_of_.push_back(l);
      named_.push_back(domain.named ? 1 : 0);
      path_.push_back(domain.path);
      description_.push_back(domain.description);
      for (std::int32_t c = kid_first; c < kid_last; ++c) parent_[at(c)] = id_of[at(t)];
      for (std::int32_t p = first; p < last; ++p) columns.node_domain[at(l) * n + at(columns.order[at(p)])] = id_of[at(t)];
    }
    below = std::move(ranges);
  }
}

void Topology::fill(kernel::ProblemView& view) const {
  for (std::size_t f = 0; f < kFacets; ++f) {
    view.facet[f].levels = static_cast<std::int32_t>(facets_[f].names.size());
    view.facet[f].ranked = facets_[f].ranked ? 1 : 0;
    view.facet[f].order = facets_[f].order.data();
    view.facet[f].node_domain = facets_[f].node_domain.data();
    std::copy(facets_[f].level_begin.begin(), facets_[f].level_begin.end(), view.facet[f].level_begin);
  }
  view.domains = {static_cast<std::int32_t>(first_.size()),
                  first_.data(),
                  last_.data(),
                  child_first_.data(),
                  child_last_.data(),
                  parent_.data(),
                  named_.data()};
}

std::int32_t Topology::level(Facet facet, std::string_view name) const {
  const auto& names = facets_[static_cast<std::size_t>(facet)].names;
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<std::int32_t>(found - names.begin());
}

const std::string& Topology::level_name(std::int32_t facet, std::int32_t level) const { return facets_[at(facet)].names[at(level)]; }

std::int32_t Topology::nvlink_domain(std::int32_t node) const {
  constexpr auto kNvlink = static_cast<std::int32_t>(Facet::kNvlink);
  if (levels(kNvlink) <= 2) return -1;  // nodes and the cluster: nobody named a domain
  const std::int32_t domain = domain_of(kNvlink, 1, node);
  return named_[at(domain)] != 0 ? domain : -1;
}

std::int32_t Topology::find(Facet facet, std::string_view path) const {
  const FacetColumns& f = facets_[static_cast<std::size_t>(facet)];
  for (std::int32_t d = f.level_begin[1]; d < f.level_begin[kMaxLevels]; ++d) {
    if (named_[at(d)] != 0 && path_[at(d)] == path) return d;
  }
  return -1;
}

}  // namespace berth::core
