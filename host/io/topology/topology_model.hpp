#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/snapshot.hpp"
#include "host/io/files/import_notes.hpp"

/// What the importers and exporters of topologies share: trees of named levels over nodes.
namespace berth::io {

/// Levels of topology `nvlink`. A block of Slurm is an accelerator domain.
inline constexpr std::string_view kBlockLevel = "block", kSubBlockLevel = "sub-block";

/// A switch, or several that connect the same ones: the domain of everything below.
struct ModelDomain {
  std::string id;
  std::string level;
  std::int32_t parent = -1;           ///< index in the same topology, -1: a root
  std::vector<std::string> parallel;  ///< the other switches that connect the same ones
  std::int64_t link_speed = 0;        ///< relative, as the source has it; 0: not stated
  std::int32_t working = 1;           ///< switches of it that have not failed
  std::int64_t uplink_bytes_per_s = 0;
  std::int64_t oversubscription_ppm = 1'000'000;
  int line = 0;  ///< in the source; 0: not known
  std::int32_t switches() const { return 1 + static_cast<std::int32_t>(parallel.size()); }
};

struct ModelNode {
  std::string id;
  std::array<std::int32_t, kTopologyKinds> domain{-1, -1, -1, -1, -1};
  std::int32_t gpus = -1;  ///< -1: the source does not say
  std::string gpu_type;    ///< empty: the source does not say
  std::int32_t nics = 0;
  std::int64_t nic_bytes_per_s = 0;
  NodeState state = NodeState::kReady;
  std::vector<std::pair<std::string, std::string>> labels;  ///< sorted by key
  int line = 0;
};

/// @throws InputError
[[noreturn]] void fail_topology(const std::string& file, int line, const std::string& problem);

class TopologyModel {
 public:
  /// @param file  For errors.
  explicit TopologyModel(std::string file = "topology") : file_(std::move(file)) {}

  std::array<std::vector<ModelDomain>, kTopologyKinds> domains;
  std::vector<ModelNode> nodes;
  std::vector<std::int64_t> block_sizes;  ///< as Slurm's BlockSizes; empty: not stated

  std::vector<ModelDomain>& of(TopologyKind kind) { return domains[static_cast<std::size_t>(kind)]; }
  const std::vector<ModelDomain>& of(TopologyKind kind) const { return domains[static_cast<std::size_t>(kind)]; }
  const std::string& file() const { return file_; }
  void set_file(std::string file) { file_ = std::move(file); }

  /// Adds a node. @throws InputError when there is one of that name, or too many.
  ModelNode& add_node(const std::string& id, int line);
  /// The node of that name, which is added where it is not there.
  ModelNode& node(const std::string& id, int line);
  /// Puts a node into a domain. @throws InputError when it is in another one.
  void place(ModelNode& node, TopologyKind kind, std::int32_t domain, int line);
  /// The domain at the end of a path of (level, id) from the root down; domains that are not there are added.
  std::int32_t domain_at(TopologyKind kind, const std::vector<std::pair<std::string, std::string>>& path, int line);

  std::string path(TopologyKind kind, std::int32_t domain) const;
  /// Paths of all domains.
  std::vector<std::string> paths(TopologyKind kind) const;
  /// Levels of a topology in the order of their first domain.
  std::vector<std::string> levels(TopologyKind kind) const;

 private:
  std::string file_;
  std::unordered_map<std::string, std::size_t> node_index_;
  std::array<std::map<std::pair<std::int32_t, std::string>, std::int32_t>, kTopologyKinds> children_;  // (parent, id)
};

/// What a source does not say, for nodes that have to be made of it.
struct NodeDefaults {
  std::int32_t gpus_per_node = 0;  ///< 0: not given
  std::string gpu_type = {};       ///< empty: "gpu"
};

/// Adds domains and nodes to an empty snapshot.
/// @throws InvalidArgument when the source has no GPU counts and none is given.
void add_to_snapshot(const TopologyModel& model, const NodeDefaults& defaults, Snapshot& snapshot);
/// Adds the domains, and puts nodes that the snapshot has into them. Other nodes are counted in `notes`.
void add_domains(const TopologyModel& model, const std::unordered_map<std::string_view, std::size_t>& rank, Snapshot& snapshot,
                 ImportNotes& notes);
/// The topologies `switch` and `nvlink` of a snapshot. @throws InputError for fields `x_...` of an import that are changed.
TopologyModel model_of(const Snapshot& snapshot, const std::string& name);

}  // namespace berth::io
