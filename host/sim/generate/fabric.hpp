#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/job.hpp"
#include "host/sim/generate/generate.hpp"

namespace berth::sim {

/// Nodes that are equal for placement: GPU type, labels, virtual cluster.
struct Pool {
  std::int32_t type;  // index into gpu_types
  std::int32_t disk;  // index of the label "disk"
  std::int32_t virtual_cluster;
  bool operator==(const Pool&) const = default;
};

/// The cluster, and lookup columns of the generator. Nodes are ordered by unit, units by pod.
struct ClusterLayout {
  std::vector<GpuType> gpu_types;
  std::vector<Domain> domains;
  std::vector<Node> nodes;
  std::vector<Pool> pools;
  std::vector<std::int32_t> pool;        // [nodes]
  std::vector<std::int32_t> unit;        // [nodes] rack, NVLink domain or leaf
  std::vector<std::int32_t> fault;       // [nodes] domain of the fault topology
  std::vector<std::int32_t> unit_begin;  // [units + 1] first node
  std::vector<std::int32_t> pod_begin;   // [pods + 1] first unit
  std::vector<std::int32_t> type_gpus;   // [types] GPUs on ready nodes
  Fabric fabric = Fabric::kTree;
  std::int32_t gpus_per_node = 0;
  LevelRef unit_level, pod_level, fault_level;

  std::int32_t units() const { return static_cast<std::int32_t>(unit_begin.size()) - 1; }
  std::int32_t pods() const { return static_cast<std::int32_t>(pod_begin.size()) - 1; }
  std::int32_t most_gpus() const;  // of one type on ready nodes, at least 1
  std::int64_t least_gpu_memory() const;
};

inline constexpr const char* kDisks[] = {"hdd", "nvme"};

/// @throws InvalidArgument for an unknown GPU type.
ClusterLayout build_layout(const GenerateOptions& options);

/// Thousandths of a core and bytes of memory per GPU of a node.
inline constexpr std::int64_t kCpuMilliPerGpu = 12'000;
inline constexpr std::int64_t kMemoryPerGpu = std::int64_t{128} << 30;

/// Names of the known types.
std::vector<std::string> all_gpu_types();

/// Dense 16-bit matrix rate of a known type, in 10^12 operations per second.
std::int64_t dense_tflops(const std::string& gpu_type);

std::string virtual_cluster_name(std::int32_t index);

}  // namespace berth::sim
