#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/snapshot.hpp"

namespace berth::sim {

/// The workload whose published statistics the jobs follow; sources in data/SOURCES.md. `kLlm` has group trees;
/// `kOnes` has models with rates and epochs; `kDally` has models that communicate, `kDallyGangs` only its jobs of several GPUs.
enum class Workload : std::uint8_t { kPhilly, kHelios, kPai, kLlm, kOnes, kDally, kDallyGangs };

constexpr bool is_dally(Workload workload) { return workload == Workload::kDally || workload == Workload::kDallyGangs; }

/// The network. `kTree`: racks and pods. `kNvl72`: NVLink domains of 18 nodes in racks and pods.
/// `kRail`: leaves of 32 nodes with a switch per NIC, in pods.
/// `kAuto`: kTree; for kLlm, kNvl72 with 4 GPUs per node and kRail otherwise.
enum class Fabric : std::uint8_t { kAuto, kTree, kNvl72, kRail };

std::string_view name(Workload workload);
std::string_view name(Fabric fabric);
std::optional<Workload> workload_from_name(std::string_view text);
std::optional<Fabric> fabric_from_name(std::string_view text);

/// A GPU type and its fraction of the nodes.
struct TypePart {
  std::string type;  ///< one of `known_gpu_types`
  std::int32_t weight = 1;
};
/// Returns "A100-80GB, H100-80GB, ..." for messages.
std::string known_gpu_types();

struct GenerateOptions {
  std::int32_t nodes = 1;          ///< 1..1,000,000
  std::int32_t gpus_per_node = 8;  ///< 1..kMaxGpusPerNode
  std::int32_t jobs = 1;           ///< 0..5,000,000
  Workload workload = Workload::kHelios;
  Fabric fabric = Fabric::kAuto;
  bool elastic = false;                ///< training jobs may run at several GPU counts, with a table of rates
  std::int32_t waiting_ppm = 500'000;  ///< minimum fraction of waiting jobs; more wait where there are too few GPUs
  std::uint64_t seed = 0;
  std::int32_t nodes_per_rack = 0;  ///< 0: that of the fabric (16, 18, 32)
  std::int32_t racks_per_pod = 0;   ///< 0: 8
  /// By level of the fabric, the bandwidth from below over that of an uplink, in millionths; empty: those of the fabric.
  std::map<std::string, std::int64_t> oversubscription_ppm;
  std::vector<TypePart> gpu_types;    ///< empty: those of the workload
  bool demands = true;                ///< cores, memory and GPU memory
  bool labels = true;                 ///< node labels, and jobs that require them
  std::int32_t queues = 4;            ///< 0..64 leaf queues with quotas under one root
  std::int32_t virtual_clusters = 0;  ///< 0..64; 0: every node serves every job
  std::int32_t history = -1;          ///< 0..5,000,000 finished jobs; -1: as many as jobs, at most 2,000
  std::int32_t outage_ppm = 4'000;    ///< fraction of the nodes that are failed or draining
  std::int32_t spare_ppm = 0;         ///< fraction of the nodes that are spare
};

/// Generates a used cluster and its jobs from published statistics, as a pure function of the options.
///
/// Running jobs hold GPUs of the tightest domain that had room when they were placed. Jobs that came and went have left holes.
/// Estimates are means over the generated history (source "generated:history-mean"), never the true run times.
/// @throws InvalidArgument naming the option and its value.
/// @complexity O(jobs * pools + jobs of several nodes * nodes).
Snapshot generate(const GenerateOptions& options);

}  // namespace berth::sim
