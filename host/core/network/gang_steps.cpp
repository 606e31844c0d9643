#include "host/core/network/gang_steps.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/model/profile.hpp"
#include "host/core/state/job_rates.hpp"

namespace berth::core {

GangStep gang_step(const StateView& state, const Job& job, std::int32_t shape, std::span<const PlanEntry> entries) {
  const PlacedStep placed = placed_step(state, job, shape, entries);
  GangStep step;
  step.ns = placed.ns;
  step.exposed_ppm = 1'000'000;
  if (placed.ns == 0) return step;
  const Shape& used = job.shapes[to_index(shape)];
  if (job.profile.kind != ProfileKind::kClosedForm || used.rate > 0) return step;
  step.exposed_ppm -= std::clamp<std::int64_t>(job.profile.closed_form.overlap_ppm, 0, 1'000'000);
  // A modelled step has the all-reduce of the gradients; communication that groups state is instead of it.
  if (Traffic::stated(used)) step.included_ns = all_reduce_ns(job, used, placed.span);
  return step;
}

}  // namespace berth::core
