#include "host/io/topology/topology_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "berth/error.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/io/files/name_problem.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::io {

void fail_topology(const std::string& file, int line, const std::string& problem) {
  throw InputError(core::escape_control(file), "", line, core::escape_control(problem));
}

ModelNode& TopologyModel::add_node(const std::string& id, int line) {
  const std::string problem = id.empty() ? "it is empty" : name_problem(id);
  if (!problem.empty()) fail_topology(file_, line, fmt::format("'{}' is no name of a node: {}", cut_utf8(id, 60), problem));
  if (nodes.size() == static_cast<std::size_t>(kMaxNodes)) fail_topology(file_, line, fmt::format("more than {} nodes", kMaxNodes));
  if (!node_index_.emplace(id, nodes.size()).second) fail_topology(file_, line, fmt::format("duplicate node '{}'", id));
  ModelNode& node = nodes.emplace_back();
  node.id = id;
  node.line = line;
  return node;
}

ModelNode& TopologyModel::node(const std::string& id, int line) {
  const auto found = node_index_.find(id);
  return found == node_index_.end() ? add_node(id, line) : nodes[found->second];
}

void TopologyModel::place(ModelNode& node, TopologyKind kind, std::int32_t domain, int line) {
  std::int32_t& held = node.domain[static_cast<std::size_t>(kind)];
  if (held >= 0 && held != domain) {
    fail_topology(file_, line, fmt::format("node '{}' lies in '{}' and in '{}': no tree", node.id, path(kind, held), path(kind, domain)));
  }
  held = domain;
}

std::int32_t TopologyModel::domain_at(TopologyKind kind, const std::vector<std::pair<std::string, std::string>>& path, int line) {
  std::vector<ModelDomain>& list = of(kind);
  std::int32_t at = -1;
  for (const auto& [level, id] : path) {
    const std::string problem = id.empty() ? "it is empty" : id.find('/') != id.npos ? "it has a '/'" : name_problem(id);
    if (!problem.empty()) fail_topology(file_, line, fmt::format("'{}' is no name of a domain: {}", cut_utf8(id, 60), problem));
    const auto [found, fresh] = children_[static_cast<std::size_t>(kind)].try_emplace({at, id}, static_cast<std::int32_t>(list.size()));
    if (fresh) {
      if (list.size() == static_cast<std::size_t>(kMaxNodes)) fail_topology(file_, line, fmt::format("more than {} domains", kMaxNodes));
      ModelDomain& domain = list.emplace_back();
      domain.id = id;
      domain.level = level;
      domain.parent = at;
      domain.line = line;
    }
    at = found->second;
  }
  return at;
}

std::string TopologyModel::path(TopologyKind kind, std::int32_t domain) const {
  const std::vector<ModelDomain>& list = of(kind);
  std::string text;
  for (; domain >= 0; domain = list[static_cast<std::size_t>(domain)].parent) {
    if (!text.empty()) text.insert(0, 1, '/');
    text.insert(0, list[static_cast<std::size_t>(domain)].id);
  }
  return text;
}

std::vector<std::string> TopologyModel::paths(TopologyKind kind) const {
  std::vector<std::string> out;
  out.reserve(of(kind).size());
  for (std::size_t d = 0; d < of(kind).size(); ++d) out.push_back(path(kind, static_cast<std::int32_t>(d)));
  return out;
}

std::vector<std::string> TopologyModel::levels(TopologyKind kind) const {
  std::vector<std::string> out;
  for (const ModelDomain& domain : of(kind)) {
    if (std::find(out.begin(), out.end(), domain.level) == out.end()) out.push_back(domain.level);
  }
  return out;
}

}  // namespace berth::io
