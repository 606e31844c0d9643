#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "berth/trace.hpp"
#include "host/sim/base/random.hpp"

namespace berth::sim {

/// A model, a data set and a size of epochs in the evaluation of ONES (SC'21); data/SOURCES.md, "ones".
struct OnesKind {
  std::int32_t ppm;  ///< of the jobs
  const char* model;
  std::int32_t epoch_size;  ///< samples
  std::int32_t gpus;        ///< requested
  std::int32_t batch;       ///< samples of one GPU and step
  std::int64_t learning_rate_pico, most_learning_rate_pico;
  std::int32_t patience;          ///< epochs without progress after which a job ends
  std::int64_t samples_per_ks;    ///< measured on the requested GPUs: samples in 1,000 s
  std::int32_t epochs_tenths;     ///< measured
  std::int64_t parameters_bytes;  ///< float32
};

/// All of them; their `ppm` add up to 1,000,000.
std::span<const OnesKind> ones_kinds();
const OnesKind& pick_ones_kind(ItemDraws& draws);

/// Samples of one GPU and step on that many GPUs: the learning rate is proportional to the GPUs up to its maximum, and the batch of all
/// GPUs then stays.
std::int32_t ones_batch(const OnesKind& kind, std::int32_t gpus);
std::int64_t ones_learning_rate_pico(const OnesKind& kind, std::int32_t gpus);

inline constexpr std::int32_t kOnesMostGpus = 64;  ///< of the cluster

/// Samples per second on 1 to kOnesMostGpus GPUs, in millionths.
Profile ones_profile(const OnesKind& kind);
std::string ones_profile_name(const OnesKind& kind);
/// Those of all kinds, by name.
TraceProfiles ones_profiles();

/// Epochs until a job has converged.
std::int64_t draw_ones_epochs(const OnesKind& kind, ItemDraws& draws);
/// A job, but for its id and its instant. The job keeps nothing of what it was.
void draw_ones_job(TraceJob& job, ItemDraws& draws);

/// From one submission to the next, as published: whole seconds, 0 to 60, all alike.
inline constexpr std::int64_t kOnesMostGapS = 60;
/// Mean of run time x requested GPUs.
std::int64_t ones_mean_gpu_us();

}  // namespace berth::sim
