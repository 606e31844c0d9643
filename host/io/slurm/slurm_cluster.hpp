#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/io/files/import_notes.hpp"
#include "host/io/slurm/slurm_records.hpp"

namespace berth::io {

/// Value of the labels that represent features.
inline constexpr const char* kSlurmFeature = "true";

/// GPUs of one node that a job holds.
struct SlurmHold {
  std::size_t node = 0;    ///< index in the snapshot
  std::uint64_t gpus = 0;  ///< bit i: GPU i
};

/// The nodes of an import while jobs are placed on them.
class SlurmCluster {
 public:
  /// Leaves out nodes without GPUs and nodes that are only planned.
  SlurmCluster(const std::vector<SlurmNode>& nodes, Snapshot& snapshot, ImportNotes& notes);

  /// Index of each node in the snapshot, by name.
  const std::unordered_map<std::string_view, std::size_t>& rank() const { return rank_; }
  /// GPUs of the largest node, and whether all nodes have the same number.
  std::int32_t most_gpus() const { return most_gpus_; }
  bool uniform() const { return uniform_; }
  /// Whether Slurm manages memory; otherwise no job is rejected because of memory.
  bool counts_memory() const { return counts_memory_; }

  std::uint64_t all(std::size_t node) const;  ///< GPUs of the node's type
  std::uint64_t free(std::size_t node) const { return all(node) & ~held_[node]; }
  std::uint64_t used(std::size_t node) const { return used_[node]; }  ///< as reported by the node itself
  void take(const SlurmHold& hold) { held_[hold.node] |= hold.gpus; }
  /// Keeps GPUs from all jobs until `free_at`; the job that holds them is not in the snapshot.
  void block(const SlurmHold& hold, TimeUs free_at);
  /// Cores and memory that a running job of the snapshot will release, and whether the node could have them.
  bool can_return(std::size_t node, std::int64_t cpu_milli, std::int64_t memory_bytes) const;
  void return_later(std::size_t node, std::int64_t cpu_milli, std::int64_t memory_bytes);

  /// Adds a virtual cluster of the nodes of all these partitions, or a label for nodes with any of these features.
  /// @returns false when there are too many of them.
  bool add_union(const std::string& name, const std::vector<std::string>& partitions);
  bool add_any_label(const std::string& label, const std::vector<std::string>& features);

  /// Writes the allocations into the nodes of the snapshot. Blocks GPUs that are in use without a known job.
  void finish();

 private:
  Snapshot& snapshot_;
  ImportNotes& notes_;
  std::unordered_map<std::string_view, std::size_t> rank_;
  std::unordered_set<std::string> partitions_, any_labels_;
  std::vector<std::uint64_t> others_, used_, held_;   // [nodes]
  std::vector<std::int64_t> used_count_;              // [nodes]
  std::vector<std::vector<TimeUs>> blocked_until_;    // [nodes][gpus], empty: none
  std::vector<std::int64_t> cpu_milli_, memory_;      // [nodes] free, plus what running jobs release
  std::vector<std::int64_t> cpu_gone_, memory_gone_;  // [nodes] in use, without what running jobs release
  std::int32_t most_gpus_ = 0;
  bool uniform_ = true, counts_memory_ = true;
  std::size_t unions_ = 0;
};

}  // namespace berth::io
