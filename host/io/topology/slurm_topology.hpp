#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/io/files/import_notes.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/json/line_counter.hpp"
#include "host/io/topology/switch_list.hpp"

namespace berth::io {

/// Switches and blocks of `scontrol show topology`, topology.conf or topology.yaml.
struct SlurmTopology {
  std::vector<ListedSwitch> switches, blocks;
  std::vector<std::int64_t> block_sizes;
  int sizes_line = 0;
  bool found = false;      ///< even without any switch: `flat: true`
  bool from_yaml = false;  ///< which is a whole topology, so that nothing may follow
};

inline constexpr const char* kSecondTopology = "a second topology; one cluster has one";

/// Whether a topology.yaml begins here: a list, or the mark of a YAML document.
bool looks_like_slurm_yaml(std::string_view text);

/// Reads lines up to a JSON document or the end. @returns their number of bytes.
/// @param lines  Of the whole text of `in`.
/// @throws InputError at a line that is not part of a topology.
std::size_t read_slurm_topology(const JsonCursor& in, LineCounter& lines, SlurmTopology& out, ImportNotes& notes, std::int64_t& names_left);

/// Reads a topology.yaml up to a line that begins with '{', or the end. @returns its number of bytes.
/// Of several topologies with switches, and of several with blocks, it takes the one of that name. Without a name it
/// takes the default of the cluster, or the first.
/// @throws InputError at what is no topology, or when no topology has that name.
std::size_t read_slurm_topology_yaml(std::string_view text, int first_line, const std::string& file, const std::string& topology,
                                     SlurmTopology& out, ImportNotes& notes, std::int64_t& names_left);

/// Turns the topology into domains and puts the nodes into them.
/// Switches are in topology `switch`, with levels named by height above the nodes (leaf, spine, core, level4, ...).
/// Blocks are in topology `nvlink`, level "block".
/// @throws InputError as add_switches, and for BlockSizes that Slurm would reject.
void add_slurm_topology(const SlurmTopology& topology, TopologyModel& model);

/// What is wrong with a name of a switch or block; empty when nothing is.
std::string switch_name_problem(std::string_view name);

}  // namespace berth::io
