#include "host/io/topology/domain_names.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "host/core/base/input_location.hpp"
#include "host/core/model/level_order.hpp"

namespace berth::io {

DomainNames domain_names(const TopologyModel& model, TopologyKind kind, const std::string& stem, bool (*is_valid)(std::string_view)) {
  const std::vector<ModelDomain>& domains = model.of(kind);
  std::map<std::string_view, int> times;
  for (const ModelDomain& domain : domains) {
    ++times[domain.id];
    for (const std::string& name : domain.parallel) ++times[name];
  }
  DomainNames out;
  std::size_t number = 0;
  for (const ModelDomain& domain : domains) {
    const bool made = times.at(domain.id) > 1 || !is_valid(domain.id);
    std::string name = domain.id;
    if (made) {
      do name = stem + std::to_string(++number);
      while (times.count(name) > 0);
    }
    out.names.push_back(std::move(name));
    out.made.push_back(made);
  }
  return out;
}

DomainMembers domain_members(const TopologyModel& model, TopologyKind kind) {
  const std::vector<ModelDomain>& domains = model.of(kind);
  DomainMembers out;
  out.domains.resize(domains.size());
  out.nodes.resize(domains.size());
  for (std::size_t d = 0; d < domains.size(); ++d) {
    if (domains[d].parent >= 0) out.domains[static_cast<std::size_t>(domains[d].parent)].push_back(d);
  }
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    const std::int32_t d = model.nodes[n].domain[static_cast<std::size_t>(kind)];
    if (d >= 0) out.nodes[static_cast<std::size_t>(d)].push_back(n);
  }
  return out;
}

std::vector<std::size_t> domains_above(const TopologyModel& model, TopologyKind kind, const ModelNode& node) {
  std::vector<std::size_t> out;
  for (std::int32_t d = node.domain[static_cast<std::size_t>(kind)]; d >= 0; d = model.of(kind)[static_cast<std::size_t>(d)].parent) {
    out.insert(out.begin(), static_cast<std::size_t>(d));
  }
  return out;
}

std::vector<std::string> ordered_levels(const TopologyModel& model, TopologyKind kind) {
  std::vector<Domain> domains;
  const std::vector<std::string> paths = model.paths(kind);
  for (const ModelDomain& from : model.of(kind)) {
    Domain& domain = domains.emplace_back();
    domain.id = from.id;
    domain.level = from.level;
    if (from.parent >= 0) domain.parent = paths[static_cast<std::size_t>(from.parent)];
  }
  return core::order_levels(domains, core::InputLocation(model.file())).front();
}

}  // namespace berth::io
