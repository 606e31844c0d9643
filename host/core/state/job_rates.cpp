#include "host/core/state/job_rates.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/members_at_work.hpp"
#include "host/core/state/span.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {
std::int64_t option_rate(const StateImpl& state, const Job& job, const Shape& shape, std::int32_t gpu_type, std::int32_t at_work) {
  SpanInfo span = tightest_span(state, gpu_type, std::max(1, at_work));
  span.gpus = at_work;
  return profile_rate(job, shape, span);
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

std::int64_t ideal_rate(const StateImpl& state, const Job& job) {
  const Shape& first = job.shapes.front();
  for (std::size_t t = 0; t < state.gpu_types.size(); ++t) {
    if (!first.gpu_type.empty() && first.gpu_type != state.gpu_types[t].id) continue;
    const std::int64_t computing = computing_rate(job, first, state.gpu_types[t].id);
    return computing > 0 ? computing : option_rate(state, job, first, static_cast<std::int32_t>(t), first.gpus);
  }
  return 0;
}

std::int64_t ideal_rate(const StateView& view, const Job& job) { return ideal_rate(impl_of(view), job); }

TimeUs ideal_run_now(const StateImpl& state, std::int32_t job_index) {
  return ideal_run_at(state, job_index, ideal_rate(state, *state.jobs[to_index(job_index)].job));
}

TimeUs ideal_run_at(const StateImpl& state, std::int32_t job_index, std::int64_t rate) {
  const Job& job = *state.jobs[to_index(job_index)].job;
  if (job.progress.work_total <= 0 || rate <= 0) return kNever;
  return mul_div(job.progress.work_total - state.work_left_now(job_index), kSecond, rate);
}

std::int64_t placed_rate(const StateView& view, const Job& job, std::int32_t shape, std::span<const PlanEntry> entries) {
  const StateImpl& state = impl_of(view);
  if (shape < 0 || entries.empty()) return 0;
  SpanInfo span = span_of(state, job.shapes[to_index(shape)], entries);
  span.gpus = gpus_at_work(job.shapes[to_index(shape)], entries);
  return profile_rate(job, job.shapes[to_index(shape)], span);
}

PlacedStep placed_step(const StateView& view, const Job& job, std::int32_t shape, std::span<const PlanEntry> entries) {
  const StateImpl& state = impl_of(view);
  if (shape < 0 || entries.empty()) return {};
  PlacedStep step{span_of(state, job.shapes[to_index(shape)], entries), 0};
  step.span.gpus = gpus_at_work(job.shapes[to_index(shape)], entries);
  step.ns = step_ns(job, job.shapes[to_index(shape)], step.span);
  return step;
}

}  // namespace berth::core
