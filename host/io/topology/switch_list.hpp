#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/io/topology/topology_model.hpp"

namespace berth::io {

/// A switch as a list of switches has it: with what it connects.
struct ListedSwitch {
  std::string name;
  std::vector<std::string> switches, nodes;
  std::int64_t link_speed = 0;  ///< relative; 0: not stated
  std::string level;            ///< empty: named by height above the nodes (leaf, spine, core, level4, ...)
  std::string file;             ///< empty: the file of the model
  int line = 0;
};

/// Turns lists of children into a tree of the topology. Switches with the same children become one domain, which has the
/// name of the first.
/// @param what  "switch", "HyperNode": for errors.
/// @throws InputError at the line of a switch that is unknown, listed twice, below two others, below itself or above six
/// levels, and of a node below two switches.
void add_switches(const std::vector<ListedSwitch>& switches, TopologyKind kind, std::string_view what, TopologyModel& model);

}  // namespace berth::io
