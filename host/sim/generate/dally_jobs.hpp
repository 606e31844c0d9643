#pragma once

#include <cstdint>
#include <span>

#include "berth/trace.hpp"
#include "host/sim/base/quantiles.hpp"
#include "host/sim/base/random.hpp"

namespace berth::sim {

/// A model in the evaluation of Dally (arXiv 2401.16492); data/SOURCES.md, "dally".
struct DallyModel {
  std::int32_t ppm, gangs_ppm;  ///< of the jobs, and of those of several GPUs
  const char* name;
  std::int64_t gradient_bytes;
  std::int64_t step_ns;  ///< computing
};
std::span<const DallyModel> dally_models();
/// Steps that compute, then reduce gradients: nothing is hidden. Work is in seconds of the requested GPUs without communication.
Profile dally_profile(const DallyModel& model);
/// Those of all models, by name.
TraceProfiles dally_profiles();

/// Of the jobs with several GPUs alone (`gangs`), or of all.
std::span<const Share> dally_gpus(bool gangs);
const DallyModel& pick_dally_model(bool gangs, ItemDraws& draws);
/// A job, but for its id and its instant. The job keeps nothing of what it was.
void draw_dally_job(bool gangs, TraceJob& job, ItemDraws& draws);
std::int64_t dally_mean_gpu_us(bool gangs);

inline constexpr std::int64_t kDallyPublishedJobs = 500, kDallyPublishedGangs = 411;  ///< of the evaluation

}  // namespace berth::sim
