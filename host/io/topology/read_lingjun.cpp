// The file topo.csv of Alibaba's GPU cluster dataset of 2023: one row a host, with its core (DSW), aggregation (PSW) and
// top-of-rack switch (ASW). Names of ASWs repeat across PSWs, so domains are known by their full path.
// The file has neither GPU counts nor bandwidths.
#include <fmt/format.h>

#include "berth/error.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/topology/topology_formats.hpp"

namespace berth::io {

TopologyModel read_lingjun(const std::vector<std::string>& files, const std::string& topology, ImportNotes& /*notes*/) {
  if (!topology.empty()) throw InvalidArgument("--topology is for formats with several topologies, and lingjun has one");
  if (files.size() != 1) throw InvalidArgument(fmt::format("lingjun takes one file, and {} are given", files.size()));
  CsvReader in(files.front());
  const int host = in.column("ip");
  constexpr std::array<const char*, 3> kLevels{"DSW", "PSW", "ASW"};
  std::array<int, 3> columns{};
  for (std::size_t i = 0; i < kLevels.size(); ++i) columns[i] = in.column(kLevels[i]);
  TopologyModel model(in.file());
  std::vector<std::pair<std::string, std::string>> path(kLevels.size());
  while (in.next()) {
    for (std::size_t i = 0; i < kLevels.size(); ++i) path[i] = {kLevels[i], std::string(in.text(columns[i]))};
    ModelNode& node = model.add_node(std::string(in.text(host)), in.line());
    model.place(node, TopologyKind::kSwitch, model.domain_at(TopologyKind::kSwitch, path, in.line()), in.line());
  }
  if (model.nodes.empty()) fail_topology(model.file(), 0, "no hosts");
  return model;
}

}  // namespace berth::io
