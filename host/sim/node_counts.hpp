#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "berth/kernel/problem.hpp"
#include "berth/snapshot.hpp"
#include "berth/state.hpp"
#include "berth/trace.hpp"
#include "host/sim/fragmentation.hpp"
#include "host/sim/index_set.hpp"
#include "host/sim/job_source.hpp"
#include "host/sim/packing_tree.hpp"

namespace berth::sim {

/// GPUs of one node.
struct CountedGpus {
  std::int32_t node = 0;  ///< by rank
  std::int32_t gpus = 0;
  std::uint64_t mask = 0;  ///< which
};

/// Free GPUs (docs/placement.md, sections 2 to 4). A job takes the nodes of its pool by rank (packing `count`) or where it lies tightest
/// (`topology`), and of each the GPUs of as few inner groups as it can, else the lowest. Either way it finds room where there are GPUs
/// enough. A pool has the nodes of one GPU type and one virtual cluster.
class NodeCounts {
 public:
  /// @returns whether counts of free GPUs are all that placing such jobs one GPU at a time looks at: nodes are ready for ever, and all
  /// their GPUs work; they do not model cores and memory that jobs ask for; pools do not overlap; no job has a profile, or a deadline for
  /// which it may be declined later.
  bool begin(const Snapshot& cluster, const TraceFacts& facts, kernel::Packing packing);

  std::int32_t pools() const { return static_cast<std::int32_t>(pools_.size()); }
  /// -1: no node is for this job.
  std::int32_t pool_of(const TraceJob& job) const;
  std::int64_t gpus() const { return gpus_; }
  std::int64_t total(std::int32_t pool) const { return pools_[static_cast<std::size_t>(pool)].total; }
  std::int64_t free(std::int32_t pool) const { return pools_[static_cast<std::size_t>(pool)].free; }

  /// From now on keeps the sum of `Fragmentation::of` over the nodes; `with` must outlive it.
  void watch(const Fragmentation& with);
  std::int64_t fragmented_micro() const { return fragmented_micro_; }

  /// Takes GPUs for a job. @returns false, and changes nothing, when there are too few.
  bool take(std::int32_t pool, std::int64_t gpus, std::vector<CountedGpus>& taken);
  void give(const std::vector<CountedGpus>& taken);
  /// Takes these GPUs. @returns false, and changes nothing, when one of them is not free.
  bool take_again(const std::vector<CountedGpus>& taken);

  /// Ids of the nodes, blanks between.
  std::string names_of(const std::vector<CountedGpus>& taken) const;

 private:
  struct Pool {
    std::vector<std::int32_t> nodes;  // by rank
    IndexSet some{0};                 // of `nodes`, those that have a free GPU; packing `count`
    PackingTree tree;                 // of `nodes`; packing `topology`
    std::int64_t free = 0, total = 0;
  };
  struct NodeGpus {
    std::uint64_t free = 0;
    std::int32_t n_free = 0, gpus = 0;
    std::int32_t pool = 0, place = 0;  // where it stands in its pool
  };
  void begin_pools();
  void hold(NodeGpus& node, const CountedGpus& one);
  void take(const CountedGpus& one);
  void give(const CountedGpus& one);
  void take_by_rank(Pool& from, std::int64_t gpus, std::vector<CountedGpus>& taken);
  void take_tightest(Pool& from, std::int64_t gpus, std::vector<CountedGpus>& taken);
  std::uint64_t pick(std::int32_t n, const NodeGpus& node, std::int32_t gpus) const;
  std::int64_t fragmented(const NodeGpus& node) const { return fragmentation_->of(node.gpus, node.n_free); }

  bool tightest_ = false;      // packing `topology`
  bool inner_groups_ = false;  // some node has some
  std::optional<ClusterState> state_;
  kernel::ProblemView columns_{};  // of `state_`
  std::vector<Pool> pools_;
  std::vector<PackingTree::Part> parts_;
  std::vector<NodeGpus> nodes_;                                                   // by rank
  std::map<std::string, std::unordered_map<std::string, std::int32_t>> pool_at_;  // GPU type, virtual cluster
  std::string only_type_;
  bool owned_ = false;  // every node is of one virtual cluster; else none is of any
  std::int64_t gpus_ = 0;
  const Fragmentation* fragmentation_ = nullptr;
  std::int64_t fragmented_micro_ = 0;
};

}  // namespace berth::sim
