#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/job.hpp"
#include "host/sim/base/quantiles.hpp"
#include "host/sim/generate/fabric.hpp"
#include "host/sim/generate/generate.hpp"

namespace berth::sim {

/// Run time distributions by size: 1 GPU, 2-4, 5-8, more.
inline constexpr int kSizeClasses = 4;
int size_class(std::int32_t gpus);

/// The statistics of one workload.
struct WorkloadModel {
  std::span<const Share> gpus;              // GPUs of a job (PAI: instances of a gang)
  std::span<const Share> share_ppm;         // per instance: fraction of a GPU, or whole GPUs; empty: one whole GPU
  std::array<Quantiles, kSizeClasses> run;  // run times by size class
  Quantiles wait;                           // queueing delays
  std::int32_t completed_ppm;               // final states of finished jobs; the rest failed
  std::int32_t cancelled_ppm;
  const char* gpu_type;  // default
};

const WorkloadModel& philly_model();
const WorkloadModel& helios_model();
const WorkloadModel& pai_model();
const WorkloadModel& llm_model();
const WorkloadModel& ones_model();
const WorkloadModel& dally_model(bool gangs);
const WorkloadModel& model_of(Workload workload);

/// The request of a job, before it has an owner.
struct Demand {
  std::vector<Shape> shapes;  // the requested one first
  Profile profile;
  JobKind kind = JobKind::kTraining;
  std::int32_t gpus = 1;        // of the requested shape; a share counts as one GPU
  bool endless = false;         // a service: no run time
  std::int32_t epoch_size = 0;  // samples of an epoch; 0: not stated
};

/// A gang of one group by the tables of the model, at most as large as the cluster.
Demand draw_gang(const WorkloadModel& model, const ClusterLayout& layout, const GenerateOptions& options, ItemDraws& draws);
/// A training tree, an inference service or a small job on the fabric of `layout`.
Demand draw_llm(const ClusterLayout& layout, const GenerateOptions& options, ItemDraws& draws);
/// A training job of ONES' evaluation, with the profile of its model, at most as large as the cluster.
Demand draw_ones(const ClusterLayout& layout, const GenerateOptions& options, ItemDraws& draws);

/// A training job of Dally's evaluation, with the profile of its model, at most as large as the cluster.
Demand draw_dally(const ClusterLayout& layout, const GenerateOptions& options, ItemDraws& draws);

/// Adds shapes with fewer and more GPUs and a concave table of rates. Only for flat gangs of whole GPUs; others are unchanged.
void make_elastic(Demand& demand, std::int32_t most_gpus, ItemDraws& draws);

}  // namespace berth::sim
