#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/io/topology/topology_model.hpp"

namespace berth::io {

/// A format of topologies that the command imports.
struct TopologyReader {
  std::string_view name, help, files;
  /// @param files     Paths.
  /// @param topology  Of several topologies, the one of this name; empty: the only one.
  /// @throws InputError naming file and line.
  TopologyModel (*read)(const std::vector<std::string>& files, const std::string& topology, ImportNotes& notes);
};
std::span<const TopologyReader> topology_readers();

/// A format of topologies that the command exports.
struct TopologyWriter {
  std::string_view name, help;
  /// @throws InvalidArgument when the format cannot hold the topology.
  std::string (*write)(const TopologyModel& model);
};
std::span<const TopologyWriter> topology_writers();

// One file each: read_NAME.cpp.
TopologyModel read_kueue(const std::vector<std::string>& files, const std::string& topology, ImportNotes& notes);
TopologyModel read_lingjun(const std::vector<std::string>& files, const std::string& topology, ImportNotes& notes);
TopologyModel read_topograph(const std::vector<std::string>& files, const std::string& topology, ImportNotes& notes);
TopologyModel read_volcano(const std::vector<std::string>& files, const std::string& topology, ImportNotes& notes);

// write_NAME.cpp
std::string write_slurm_conf(const TopologyModel& model);
std::string write_slurm_yaml(const TopologyModel& model);
std::string write_topograph(const TopologyModel& model);
std::string write_labels(const TopologyModel& model);
std::string write_hypernodes(const TopologyModel& model);

}  // namespace berth::io
