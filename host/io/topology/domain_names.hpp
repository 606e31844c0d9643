#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/io/topology/topology_model.hpp"

namespace berth::io {

/// Names of the domains of a topology for formats in which every domain has a name of its own.
struct DomainNames {
  std::vector<std::string> names;  ///< by domain: its id, or a made one
  std::vector<bool> made;          ///< the id is not unique, or not a name in the format
};

/// @param stem      Made names are STEM1, STEM2, ...
/// @param is_valid  Whether the format takes the id.
DomainNames domain_names(const TopologyModel& model, TopologyKind kind, const std::string& stem, bool (*is_valid)(std::string_view));

/// By domain: the indices of the domains right below, and of the nodes right in it.
struct DomainMembers {
  std::vector<std::vector<std::size_t>> domains, nodes;
};
DomainMembers domain_members(const TopologyModel& model, TopologyKind kind);

/// The domains from the root to the node, or none.
std::vector<std::size_t> domains_above(const TopologyModel& model, TopologyKind kind, const ModelNode& node);

/// Position of every level from the nodes up, 0 the lowest. @throws InputError when the levels form no chain.
std::vector<std::string> ordered_levels(const TopologyModel& model, TopologyKind kind);

}  // namespace berth::io
