#pragma once

#include <cstdint>
#include <vector>

#include "host/sim/index_set.hpp"

namespace berth::sim {

/// Where packing `topology` lays a gang of single GPUs (docs/placement.md, sections 2 and 3): in the tightest domain of the lowest level
/// that holds it, and there in as few domains as it can. Such a gang fits where there are GPUs enough, wherever they are.
///
/// Nodes are numbered by rank, so that the nodes of a domain, and the domains below it, stand side by side.
class PackingTree {
 public:
  /// GPUs of one node.
  struct Part {
    std::int32_t node, gpus;
  };

  /// @param free     [nodes] GPUs, 0 <= free <= kMaxGpusPerNode.
  /// @param domains  [levels][nodes] the domain of each node at each level above it, the cluster left out. Numbers only ascend with nodes.
  void begin(const std::vector<std::int32_t>& free, const std::vector<std::vector<std::int32_t>>& domains);

  /// Takes the GPUs. There are that many, and one at least. @param parts  Where; node by node as they are taken, added to what it has.
  void take(std::int64_t gpus, std::vector<Part>& parts);
  /// A node has so many free GPUs more, or less.
  void change(std::int32_t node, std::int32_t by);

 private:
  /// The domains of a level above the nodes; the last level is the cluster.
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
  /// The least by (free GPUs, number) of those that have so many, -1: none. Level 0 is the nodes'.
  std::int32_t tightest(std::size_t level, Span among, std::int64_t gpus) const;
  /// The one with the most, the first of several.
  std::int32_t fullest(std::size_t level, Span among) const;
  void fill(std::size_t level, std::int32_t domain, std::int64_t gpus, std::vector<Part>& parts);

  std::vector<std::int32_t> free_;  // [nodes]
  std::vector<IndexSet> with_;      // [GPUs - 1] nodes with so many free GPUs
  std::vector<std::int32_t> many_;  // [GPUs - 1] how many those are
  std::uint64_t some_ = 0;          // bit i: many_[i] is not 0
  std::vector<Level> levels_;
};

}  // namespace berth::sim
