#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/job.hpp"

namespace berth::core {

/// Nodes that a job may use, free or not: GPU type, GPU memory, labels, virtual cluster, required and excluded nodes,
/// reservations. Equal requirements share one row of bits over node ranks.
class FilterTable {
 public:
  /// Inputs of the rows; all must outlive the table's use.
  struct Cluster {
    const std::vector<Node>* nodes = nullptr;
    const std::vector<GpuType>* gpu_types = nullptr;
    const std::vector<std::int32_t>* node_type = nullptr;
    const std::unordered_map<std::string, std::int32_t>* node_rank = nullptr;
    /// Reservations that hold each node now, ascending; empty where there is none at all.
    const std::vector<std::vector<std::int32_t>>* node_reservations = nullptr;
  };

  /// Removes all rows.
  void clear();
  /// Recomputes the rows over changed nodes; row numbers stay.
  void rebuild(const Cluster& cluster);
  /// `row` refers to this job from now on. The job and the reservations that name it, ascending, must stay until the
  /// last `row`.
  void begin(const Job& job, std::span<const std::int32_t> reservations);
  /// The row of nodes of that GPU type that the job of `begin` may use; added when new.
  std::int32_t row(std::int32_t gpu_type, const Cluster& cluster);
  /// Adds the row of those nodes of a row that share GPUs, for `sharing`.
  void add_sharing(std::int32_t row, const Cluster& cluster);
  /// That row; kNone (-1): it was not added.
  std::int32_t sharing(std::int32_t row) const { return sharing_[static_cast<std::size_t>(row)]; }

  std::int32_t size() const { return static_cast<std::int32_t>(keys_.size()); }
  std::int32_t words() const { return n_words_; }
  const std::uint64_t* data() const { return words_.data(); }
  /// The same rows without the reservations, which close nodes only temporarily.
  const std::uint64_t* lasting() const { return reserved_ ? lasting_.data() : words_.data(); }

 private:
  struct Key {
    std::int32_t gpu_type = -1;
    std::int64_t gpu_memory_bytes = 0;
    std::string virtual_cluster;
    std::vector<std::pair<std::string, std::vector<std::string>>> labels;
    std::vector<std::string> required_nodes, excluded_nodes;
    std::vector<std::int32_t> reservations;
    bool sharing = false;  // only nodes that share GPUs
  };
  void add(Key key, const Cluster& cluster);
  static bool allows(const Key& key, const Cluster& cluster, std::int32_t node, bool for_now);
  void classify(const Cluster& cluster);
  void compute(std::size_t row, const Cluster& cluster);
  void fill(const Key& key, const Cluster& cluster, bool for_now, std::uint64_t* words) const;

  // Jobs repeat the same requirements, so the text that finds a row is built in place.
  const Job* job_ = nullptr;
  std::span<const std::int32_t> reservations_;
  std::string text_;
  std::size_t common_ = 0;  // characters that all GPU types share

  std::int32_t n_words_ = 0;
  std::vector<Key> keys_;
  std::vector<std::int32_t> sharing_;  // [rows]
  std::unordered_map<std::string, std::int32_t> index_;
  std::vector<std::uint64_t> words_;
  bool reserved_ = false;               // some node is reserved now
  std::vector<std::uint64_t> lasting_;  // as words_; empty where none is reserved
  // Nodes with equal properties for filters form one class; a row is decided once per class.
  std::vector<std::int32_t> class_of_node_;
  std::vector<std::int32_t> class_member_;  // one node of each class
};

}  // namespace berth::core
