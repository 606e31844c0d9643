#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/io/files/import_notes.hpp"
#include "host/io/kai/kai_objects.hpp"

namespace berth::io::kai {

/// A node label. KAI uses it as the GPU type of the node.
inline constexpr const char* kProductLabel = "nvidia.com/gpu.product";
/// The lowest level of a topology: the node itself.
inline constexpr const char* kHostLabel = "kubernetes.io/hostname";

/// The level that a node label stands for: "node" and "cluster" always exist as levels.
std::string level_name(const std::string& label);
/// Whether new jobs stay away. Pods of all kinds tolerate the taint that marks GPU nodes; any other taint rejects new jobs.
bool keeps_away(const KaiNode& node);

/// The GPU nodes, in the order of the objects, with types and domains.
class Cluster {
 public:
  /// Fills the cluster part of `snapshot`. @throws InputError for a node with more GPUs than the model allows.
  Cluster(const KaiObjects& objects, const std::string& file, Snapshot& snapshot, ImportNotes& notes);

  /// Index in `snapshot.nodes`, -1: not found.
  int node(const std::string& name) const;
  /// The level that a constraint names by a node label; none when this cluster has no such level.
  std::optional<LevelRef> level(const KaiTopologyConstraint& constraint, const std::string& label) const;

 private:
  void choose_topology(const KaiObjects& objects, ImportNotes& notes);
  void add_node(const KaiNode& from, const std::string& file, Snapshot& snapshot, ImportNotes& notes);
  std::string place(const KaiNode& node, Snapshot& snapshot, ImportNotes& notes);

  std::string topology_;             // the one that was turned into domains
  std::vector<std::string> levels_;  // its node labels, outermost first
  std::set<std::string> paths_;
  std::map<std::string, int> nodes_;
};

/// Adds queues with their quotas of GPUs, rounded down to whole GPUs.
void add_queues(const KaiObjects& objects, Snapshot& snapshot, ImportNotes& notes);

}  // namespace berth::io::kai
