#pragma once

#include <cstdint>
#include <optional>

#include "berth/snapshot.hpp"

namespace berth::sim {

/// What trees of groups are fitted to: the nodes of one kind, and the levels of a cluster. O(nodes * levels) to find.
struct LlmFabric {
  std::int32_t node_gpus = 1;         ///< of the kind of node (GPU type, GPUs) with the most GPUs in total
  std::int32_t nodes = 1;             ///< of this kind
  std::int32_t unit_nodes = 1;        ///< of the largest NVLink domain, or without one of the largest lowest switch
  std::int32_t pod_nodes = 1;         ///< of the largest domain of the level above the lowest switch
  std::optional<LevelRef> unit, pod;  ///< empty: the cluster has no such level
  std::optional<LevelRef> fault;      ///< with two domains at least
  std::int32_t fault_nodes = 0;       ///< of the smallest of them
  std::int64_t tflops = 989;          ///< of a GPU; 989 (H100) where the type is not known

  static LlmFabric of(const Snapshot& cluster);
};

}  // namespace berth::sim
