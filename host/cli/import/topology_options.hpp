#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/cli/base/command.hpp"
#include "host/io/topology/apply_links.hpp"

namespace berth::cli {

/// What the user states of a network where the source does not: options of `import` for the formats of clusters.
struct TopologyOptions {
  std::int32_t gpus_per_node = 0, nics = 0;
  std::string gpu_type, topology;
  std::vector<std::string> bandwidth, oversubscription, links, failed, failed_links;

  /// The first one that is given, or empty.
  std::string any() const;
};
void add_topology_options(CLI::App& app, TopologyOptions& options);

/// @throws InvalidArgument naming the option and the text.
io::LinkOptions link_options(const TopologyOptions& options);
io::NodeDefaults node_defaults(const TopologyOptions& options);

}  // namespace berth::cli
