#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/snapshot.hpp"

namespace berth::sim {

/// GPUs of one node.
struct PooledGpus {
  std::int32_t node = 0;   ///< index in the cluster's `nodes`
  std::uint64_t mask = 0;  ///< GPU indices
  bool operator==(const PooledGpus&) const = default;
};

/// Free GPUs of a cluster under *whole-node consolidation*, the placement of the replay:
/// - All GPUs of a job are of one type, on `ready` nodes, on `ok` GPUs, and of its virtual cluster or of none.
/// - A job that some node could hold uses one node: the one with the fewest free GPUs that are enough (best fit), or it does not fit.
/// - A larger job uses completely free nodes, largest first, and the rest of its GPUs by best fit on one more node.
/// - Among several types it uses the one with the fewest nodes, then the fewest GPUs left over on them, then the first.
/// - Ties go to the lower (switch domain, node id), GPUs to the lower index.
/// Cores, host memory and the network are ignored.
class NodePool {
 public:
  explicit NodePool(const Snapshot& cluster);

  /// Number of the kind of job that accepts these GPU types (empty: any) and has this virtual cluster.
  int kind(const std::vector<std::string>& gpu_types, const std::string& virtual_cluster);
  /// Whether some node serves this virtual cluster, alone or with others.
  bool owns_nodes(const std::string& virtual_cluster) const { return owners_.count(virtual_cluster) > 0; }

  /// Allocates `gpus` for a job of this kind. @returns false, and changes nothing, when they do not fit now.
  bool take(int kind, std::int64_t gpus, std::vector<PooledGpus>& taken);
  void give(const std::vector<PooledGpus>& taken);

  std::int64_t free_gpus() const { return free_gpus_; }

 private:
  /// Nodes that serve the same jobs: one type, one size, one list of virtual clusters.
  struct Class {
    std::string gpu_type;
    std::vector<std::string> virtual_clusters;
    int size = 0;
    std::vector<std::set<std::int32_t>> by_free;  ///< [size + 1] nodes (by rank) by number of free GPUs
  };
  using Choice = std::vector<std::pair<std::int32_t, int>>;  ///< (rank, GPUs)

  bool choose(const std::vector<int>& classes, std::int64_t gpus, Choice& choice) const;
  std::int32_t best_fit(const std::vector<int>& classes, std::int64_t gpus, const std::set<std::int32_t>& without) const;
  std::int32_t next_whole(const std::vector<int>& classes, int size, std::int32_t after) const;
  void move(std::int32_t rank, std::uint64_t free);

  std::vector<Class> classes_;
  std::vector<std::int32_t> node_of_;  ///< [ranks] index in the cluster
  std::vector<std::int32_t> rank_of_;  ///< [nodes] kNoRank: unused
  std::vector<int> class_of_;          ///< [ranks]
  std::vector<std::uint64_t> free_;    ///< [ranks] masks
  std::map<std::pair<std::vector<std::string>, std::string>, int> kinds_;
  std::vector<std::vector<std::vector<int>>> eligible_;  ///< [kinds][types] classes, largest first
  std::vector<std::string> types_;
  std::set<std::string> owners_;
  std::int64_t free_gpus_ = 0;
};

}  // namespace berth::sim
