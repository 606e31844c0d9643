#include "host/core/job_rates.hpp"

#include "host/core/state_impl.hpp"

namespace berth::core {

std::int64_t option_rate(const Job&, const Shape& shape, const GpuType&, std::int64_t) { return shape.rate > 0 ? shape.rate : 1'000'000; }

std::int64_t requested_rate(const Job& job, const std::vector<GpuType>& types) {
  const Shape& first = job.shapes.front();
  for (const GpuType& type : types) {
    if (first.gpu_type.empty() || first.gpu_type == type.id) return option_rate(job, first, type, first.gpus);
  }
  return 0;
}

std::int64_t held_rate(const StateImpl& state, std::int32_t slot) {
  const auto s = static_cast<std::size_t>(slot);
  const Job& job = *state.jobs[s].job;
  for (const Shape& shape : job.shapes) {
    if (shape.id == job.allocation.shape && state.job.held_type[s] >= 0) {
      return option_rate(job, shape, state.gpu_types[static_cast<std::size_t>(state.job.held_type[s])], state.job.gpus[s]);
    }
  }
  return 0;
}

}  // namespace berth::core
