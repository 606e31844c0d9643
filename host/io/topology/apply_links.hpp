#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/io/topology/topology_model.hpp"

namespace berth::io {

/// What a user states of the links of topology `switch`. Levels are those of the import; "node" is a node's NICs.
struct LinkOptions {
  std::int32_t nics = 1;                                 ///< per node
  std::map<std::string, std::int64_t> bytes_per_s = {};  ///< by level: of one link up, per direction
  std::map<std::string, std::int64_t> oversubscription_ppm = {};
  std::map<std::string, std::int32_t> links = {};         ///< by level: parallel links to each switch above; 1 where not given
  std::vector<std::string> failed = {};                   ///< switches
  std::map<std::string, std::int32_t> failed_links = {};  ///< by switch: links up that do not work
};

/// Computes the bandwidth and oversubscription of every uplink, and fails what cannot be reached.
///
/// A domain has one link up for each of its `links` and each switch of the domain above.
/// - A failed switch takes its links away from the domains below. Where none is left, the nodes below have failed.
/// - Oversubscription is the bandwidth from below over the bandwidth up, where both are known.
/// @throws InvalidArgument for a level or switch that is not there, a level with both rates, or a domain without any link left.
void apply_links(const LinkOptions& options, TopologyModel& model);

}  // namespace berth::io
