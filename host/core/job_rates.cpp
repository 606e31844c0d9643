#include "host/core/job_rates.hpp"

#include "host/core/span.hpp"
#include "host/core/state_impl.hpp"

namespace berth::core {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::int64_t option_rate(const StateImpl& state, const Job& job, const Shape& shape, std::int32_t gpu_type, std::int64_t gpus) {
  return profile_rate(job, shape, tightest_span(state, gpu_type, gpus));
}

std::int64_t requested_rate(const StateImpl& state, const Job& job) {
  const Shape& first = job.shapes.front();
  for (std::size_t t = 0; t < state.gpu_types.size(); ++t) {
    if (first.gpu_type.empty() || first.gpu_type == state.gpu_types[t].id) {
      return option_rate(state, job, first, static_cast<std::int32_t>(t), first.gpus);
    }
  }
  return 0;
}

std::int64_t placed_rate(const StateImpl& state, const Job& job, std::int32_t shape, std::span<const PlanEntry> entries) {
  if (shape < 0 || entries.empty()) return 0;
  return profile_rate(job, job.shapes[at(shape)], span_of(state, entries));
}

}  // namespace berth::core
