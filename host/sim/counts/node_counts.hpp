#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "berth/snapshot.hpp"
#include "berth/state.hpp"
#include "berth/trace.hpp"
#include "host/sim/base/job_source.hpp"
#include "host/sim/counts/index_set.hpp"
#include "host/sim/counts/packing_tree.hpp"
#include "host/sim/measures/fragmentation.hpp"

namespace berth::sim {

class Stays;

/// GPUs of one node.
struct CountedGpus {
  std::int32_t node = 0;  ///< by rank
  std::int32_t gpus = 0;
  std::uint64_t mask = 0;  ///< mask of GPU indices
};

/// Free GPUs (docs/placement.md, sections 2 to 4). A pool has the nodes of one GPU type and one virtual cluster.
/// A job uses the nodes of its pool by rank (packing `count`), in the tightest domain (`topology`), or those with the most free GPUs
/// first (`emptiest`).
/// On each node it uses GPUs of the fewest inner groups, else the lowest. It always fits where enough GPUs are free.
class NodeCounts {
 public:
  /// @returns whether placing such jobs GPU by GPU depends only on counts of free GPUs:
  /// - Nodes are always ready, and all their GPUs work. They do not model cores and memory that jobs request.
  /// - Pools do not overlap, and there are no quotas.
  /// - No job has a profile, or a deadline for which it may be rejected later or be ordered otherwise.
  bool begin(const Snapshot& cluster, const TraceFacts& facts, kernel::Packing packing);

  /// All GPUs are free again.
  void clear();

  std::int32_t pools() const { return static_cast<std::int32_t>(pools_.size()); }
  /// -1: no node is allowed for this job.
  std::int32_t pool_of(const TraceJob& job) const;
  std::int64_t gpus() const { return gpus_; }
  std::int64_t total(std::int32_t pool) const { return pools_[static_cast<std::size_t>(pool)].total; }
  std::int64_t free(std::int32_t pool) const { return pools_[static_cast<std::size_t>(pool)].free; }

  /// From now on maintains the sum of `Fragmentation::of` over the nodes; `with` must outlive this object.
  void stop_token(const Fragmentation& with);
  std::int64_t fragmented_micro() const { return fragmented_micro_; }

  /// Allocates GPUs for a job. @returns false, and changes nothing, when too few are free.
  bool take(std::int32_t pool, std::int64_t gpus, std::vector<CountedGpus>& taken);
  void give(const std::vector<CountedGpus>& taken);
  /// Allocates these GPUs. @returns false, and changes nothing, when one of them is not free.
  bool take_again(const std::vector<CountedGpus>& taken);

  std::int32_t pool_of_node(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].pool; }
  /// Allocates all GPUs of a node that are free.
  CountedGpus take_node(std::int32_t node);

  /// Number of those GPUs that are free.
  std::int64_t free_of(const std::vector<CountedGpus>& gpus) const;
  /// Allocates GPUs for a job outside `reserved`, of which any are free. Enough others must be free.
  void take_beside(const std::vector<CountedGpus>& reserved, std::int32_t pool, std::int64_t gpus, std::vector<CountedGpus>& taken);

  /// Whether a job takes the first GPUs of its pool that are free.
  bool takes_first() const { return by_rank_ && !inner_groups_; }
  // Sets of GPUs of a pool: bit i of a row of bits is its GPU i, by node and index.
  /// Adds the free GPUs to a set.
  void add_free(std::int32_t pool, std::span<std::uint64_t> set) const;
  void add_to(std::span<std::uint64_t> set, const std::vector<CountedGpus>& gpus) const;
  /// Chooses GPUs for a job as if those of `set` were free. There must be enough.
  /// @param set  Out: the chosen ones.
  void choose(std::int32_t pool, std::int64_t gpus, std::span<std::uint64_t> set, std::vector<CountedGpus>& taken);

  /// Tells it all nodes.
  void name(Stays& stays) const;
  /// Ids of the nodes, separated by blanks.
  std::string names_of(const std::vector<CountedGpus>& taken) const;

 private:
  struct Pool {
    std::vector<std::int32_t> nodes;  // by rank
    IndexSet some{0};                 // those of `nodes` with a free GPU; packing `count`
    PackingTree tree;                 // of `nodes`; other packings
    std::int64_t free = 0, total = 0;
    std::vector<std::int32_t> node_of;     // [GPUs]
    PackingTree other_tree;                // of `nodes` as if other GPUs were free
    std::vector<std::int32_t> other_free;  // [nodes] what it has
  };
  struct NodeGpus {
    std::uint64_t free = 0;
    std::int32_t n_free = 0, gpus = 0;
    std::int32_t pool = 0, place = 0;  // its pool, and its position there
    std::int64_t first_gpu = 0;        // its GPU 0, as a GPU of the pool
  };
  void begin_pools();
  void hold(NodeGpus& node, const CountedGpus& one);
  void take(const CountedGpus& one);
  void give(const CountedGpus& one);
  void take_by_rank(Pool& from, std::int64_t gpus, std::vector<CountedGpus>& taken);
  void take_from_tree(Pool& from, std::int64_t gpus, std::vector<CountedGpus>& taken);
  std::uint64_t pick(std::int32_t n, const NodeGpus& node, std::int32_t gpus) const;
  std::uint64_t pick(std::int32_t n, std::uint64_t free, std::int32_t gpus) const;
  std::int64_t fragmented(const NodeGpus& node) const { return fragmentation_->of(node.gpus, node.n_free); }

  bool by_rank_ = false, emptiest_ = false;  // packing `count`, `emptiest`; neither: `topology`
  bool inner_groups_ = false;                // some node has inner groups
  std::optional<ClusterState> state_;
  kernel::ProblemView columns_{};  // of `state_`
  std::vector<Pool> pools_;
  std::vector<PackingTree::Part> parts_;
  std::vector<CountedGpus> withheld_;
  std::vector<NodeGpus> nodes_;                                                   // by rank
  std::map<std::string, std::unordered_map<std::string, std::int32_t>> pool_at_;  // GPU type, virtual cluster
  std::string only_type_;
  bool owned_ = false;  // every node has one virtual cluster; otherwise none has any
  std::int64_t gpus_ = 0;
  const Fragmentation* fragmentation_ = nullptr;
  std::int64_t fragmented_micro_ = 0;
};

}  // namespace berth::sim
