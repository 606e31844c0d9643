#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace berth::fit {

/// Where and how a step was measured, or is predicted.
struct StepSetting {
  std::string gpu_type;   ///< empty: not stated
  double batch = 0;       ///< samples on one GPU; 0: not stated, and the same throughout
  std::int32_t gpus = 1;  ///< workers
  std::int32_t nodes = 1;
  double cores = 0;       ///< CPU cores for each GPU; 0: not stated
  std::string co_runner;  ///< class of the job that shares the GPUs; empty: none
};

/// What the time of a step is made of. All coefficients are 0 or more.
enum class StepTerm : std::uint8_t {
  kSample,        ///< seconds a sample
  kFixed,         ///< seconds a step
  kInput,         ///< CPU-core seconds a sample
  kNodeVolume,    ///< seconds for the gradients, at the bandwidth inside a node
  kNodeWorker,    ///< seconds a worker, inside a node
  kFabricVolume,  ///< seconds for the gradients, at the bandwidth between nodes
  kFabricWorker   ///< seconds a worker, between nodes
};
inline constexpr std::size_t kStepTerms = 7;

/// What was measured. Beyond it a prediction is an extrapolation.
struct StepRange {
  double least_batch = 0, most_batch = 0, least_cores = 0, most_cores = 0;
  std::int32_t most_on_node = 0;                       ///< GPUs on one node; 0: not measured
  std::int32_t least_on_nodes = 0, most_on_nodes = 0;  ///< GPUs on several; 0: not measured
  std::int32_t most_nodes = 0, least_on_node = 1;
  std::set<std::int32_t> batches;            ///< that are whole numbers
  std::set<std::int32_t> on_node, on_nodes;  ///< GPUs
};

/// The time of a step of one job on one GPU type: GENIE's predictor as qos.md, section 1.3 reconstructs it [inferred].
///
///     step  = max(compute, input) + all_reduce
///     compute    = (kSample batch + kFixed) (1 + slowdown by the co-runner)
///     input      = kInput batch / min(cores, saturation)
///     all_reduce = 2 (g - 1) / g kNodeVolume + (g - 1) kNodeWorker         of g GPUs on one node, 0 of one GPU
///                = 2 (g - 1) / g kFabricVolume + (g - 1) kFabricWorker     on several nodes
///
/// The terms by worker inside a node are ours: stragglers and trees of PCIe switches. Nothing overlaps, as nothing measured says so.
struct StepModel {
  std::string gpu_type;
  std::array<double, kStepTerms> seconds{};
  double saturation = 0;                   ///< cores for each GPU beyond which input is no faster; 0: no such number was found
  std::map<std::string, double> slowdown;  ///< by co-runner
  StepRange range;
  bool has_batch = false;  ///< else the unit is a step
};

/// Seconds of a step. A co-runner that was not measured slows nothing.
double step_seconds(const StepModel& model, const StepSetting& setting);
/// Samples a second of all workers; steps a second where no batch was stated.
double step_rate(const StepModel& model, const StepSetting& setting);
/// Why a prediction is an extrapolation; empty: it is none.
std::string beyond_range(const StepModel& model, const StepSetting& setting);

}  // namespace berth::fit
