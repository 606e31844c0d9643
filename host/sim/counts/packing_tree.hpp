#pragma once

#include <cstdint>
#include <vector>

#include "host/sim/counts/index_set.hpp"

namespace berth::sim {

/// The placement of gangs of single GPUs under packing `topologies` (docs/placement.md, sections 2 and 3).
/// It uses the tightest domain of the lowest level that holds the gang, and there the fewest domains.
/// Such a gang fits wherever enough GPUs are free.
///
/// Nodes are numbered by rank, so that the nodes and the child domains of a domain are contiguous.
class PackingTree {
 public:
  /// GPUs of one node.
  struct Part {
    std::int32_t node, gpus;
  };

  /// @param free     [nodes] GPUs, 0 <= free <= kMaxGpusPerNode.
  /// @param domains  [levels][nodes] the domain of each node at each level above it, without the cluster. Numbers ascend with nodes.
  void begin(const std::vector<std::int32_t>& free, const std::vector<std::vector<std::int32_t>>& domains);

  /// Allocates the GPUs; at least one, and enough must be free.
  /// @param parts  Appended to: the GPUs per node, in the order in which they are taken.
  void take(std::int64_t gpus, std::vector<Part>& parts);
  /// Allocates the GPUs on the nodes with the most free GPUs (packing `emptiest`).
  void take_emptiest(std::int64_t gpus, std::vector<Part>& parts);
  /// Changes the number of free GPUs of a node.
  void change(std::int32_t node, std::int32_t by);

 private:
  /// The domains of a level above the nodes. The last level is the cluster.
  struct Level {
    std::vector<std::int32_t> of_node;  // [nodes]
    std::vector<std::int32_t> first;    // [domains + 1] of its children, one level lower
    std::vector<std::int64_t> free;     // [domains]
  };
  struct Span {
    std::int32_t first, last;
  };
  void add_level(const std::vector<std::int32_t>& domain);
  std::int64_t free(std::size_t level, std::int32_t domain) const;
  /// The smallest by (free GPUs, number) among those with enough GPUs, -1: none. Level 0 is the nodes.
  std::int32_t tightest(std::size_t level, Span among, std::int64_t gpus) const;
  /// The one with the most GPUs; of several the first.
  std::int32_t fullest(std::size_t level, Span among) const;
  void fill(std::size_t level, std::int32_t domain, std::int64_t gpus, std::vector<Part>& parts);

  std::vector<std::int32_t> free_;  // [nodes]
  std::vector<IndexSet> with_;      // [GPUs - 1] nodes by number of free GPUs
  std::vector<std::int32_t> many_;  // [GPUs - 1] size of those sets
  std::uint64_t some_ = 0;          // bit i: many_[i] is not 0
  std::vector<Level> levels_;
};

}  // namespace berth::sim
