#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/cluster.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/slurm/slurm_notes.hpp"
#include "host/io/slurm/slurm_records.hpp"

namespace berth::io {

/// Switches and blocks of `scontrol show topology` or topology.conf.
struct SlurmTopology {
  std::vector<SlurmSwitch> switches, blocks;
};

/// Reads lines up to a JSON document or the end. @returns their number of bytes.
/// @throws InputError at a line that is not part of a topology.
std::size_t read_slurm_topology(const JsonCursor& in, SlurmTopology& out, SlurmNotes& notes, std::int64_t& names_left);

/// Turns the topology into domains and puts the nodes into them.
/// Switches are in topology `switch`, with levels named by height above the nodes (leaf, spine, core, level4, ...).
/// Blocks are in topology `nvlink`, level "block".
/// @param in    For errors: the text that the topology came from.
/// @param rank  Index of each node by name.
/// @throws InputError for a switch without description, with two parents, in a cycle, or above six levels.
void apply_slurm_topology(const JsonCursor& in, const SlurmTopology& topology,
                          const std::unordered_map<std::string_view, std::size_t>& rank, std::vector<Node>& nodes,
                          std::vector<Domain>& domains, SlurmNotes& notes);

inline constexpr std::string_view kSlurmBlockLevel = "block";

}  // namespace berth::io
