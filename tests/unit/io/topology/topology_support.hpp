#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "berth/snapshot.hpp"
#include "host/io/topology/apply_links.hpp"
#include "host/io/topology/slurm_topology.hpp"
#include "host/io/topology/topology_formats.hpp"
#include "tests/support/folder.hpp"

namespace berth::test {

/// The message, or "accepted". The name of the temporary folder is left out of it.
inline std::string refusal_of(const std::function<void()>& work, const std::string& folder = "") {
  try {
    work();
  } catch (const Error& error) {
    std::string text = error.what();
    for (std::size_t at = text.find(folder); !folder.empty() && at != text.npos; at = text.find(folder)) text.erase(at, folder.size());
    return text;
  }
  return "accepted";
}

using TopologyRead = io::TopologyModel (*)(const std::vector<std::string>&, const std::string&, io::ImportNotes&);

inline io::TopologyModel read_text(TopologyRead read, const std::string& text, const std::string& topology = "") {
  const Folder folder;
  io::ImportNotes notes;
  return read({folder.write("in", text)}, topology, notes);
}
inline std::string refusal_of_text(TopologyRead read, const std::string& text, const std::string& topology = "") {
  const Folder folder;
  io::ImportNotes notes;
  const std::string path = folder.write("in", text);
  return refusal_of([&] { read({path}, topology, notes); }, path.substr(0, path.size() - 2));
}

/// Of the text of a topology.conf or topology.yaml.
inline io::TopologyModel slurm_model(const std::string& text, const std::string& topology = "") {
  io::SlurmTopology read;
  io::ImportNotes notes;
  std::int64_t names_left = 1'000'000;
  io::JsonCursor in(text, "in");
  io::LineCounter lines(in.text());
  if (io::looks_like_slurm_yaml(text)) {
    io::read_slurm_topology_yaml(text, 1, "in", topology, read, notes, names_left);
  } else {
    io::read_slurm_topology(in, lines, read, notes, names_left);
  }
  io::TopologyModel model("in");
  io::add_slurm_topology(read, model);
  return model;
}

/// "c/s1/l1" of each node, in their order.
inline std::vector<std::string> paths_of_nodes(const io::TopologyModel& model, TopologyKind kind = TopologyKind::kSwitch) {
  std::vector<std::string> out;
  for (const io::ModelNode& node : model.nodes) out.push_back(model.path(kind, node.domain[static_cast<std::size_t>(kind)]));
  return out;
}

inline const io::ModelDomain& domain_at(const io::TopologyModel& model, const std::string& path,
                                        TopologyKind kind = TopologyKind::kSwitch) {
  const std::vector<std::string> paths = model.paths(kind);
  const auto at = std::find(paths.begin(), paths.end(), path);
  if (at == paths.end()) throw InvalidArgument("the test has no domain " + path);
  return model.of(kind)[static_cast<std::size_t>(at - paths.begin())];
}

/// Two spines over four leaves of 18 nodes each.
inline const char* const kNvl72Conf =
    "SwitchName=leaf1 Nodes=n[01-18]\n"
    "SwitchName=leaf2 Nodes=n[19-36]\n"
    "SwitchName=leaf3 Nodes=n[37-54]\n"
    "SwitchName=leaf4 Nodes=n[55-72]\n"
    "SwitchName=spine1 Switches=leaf[1-4]\n"
    "SwitchName=spine2 Switches=leaf[1-4]\n";

}  // namespace berth::test
