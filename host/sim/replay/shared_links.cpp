#include "host/sim/replay/shared_links.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/job_rates.hpp"

namespace berth::sim {

SharedLinks::SharedLinks(const ClusterState& state) : state_(state), links_(state), traffic_(state, links_), steps_(links_) {}

void SharedLinks::start(std::int32_t job, const Job& description) {
  stop(job);
  const std::int32_t shape = StateView(state_).job().shape[to_index(job)];
  if (links_.none() || shape < 0) return;
  const std::span<const PlanEntry> entries = StateView(state_).jobs()[to_index(job)].entries;
  const core::PlacedStep step = core::placed_step(state_, description, shape, entries);
  if (step.ns == 0) return;
  const std::int64_t hidden = description.profile.kind == ProfileKind::kClosedForm ? description.profile.closed_form.overlap_ppm : 0;
  steps_.add(job, traffic_.of(description, description.shapes[to_index(shape)], entries), step.ns,
             1'000'000 - std::clamp<std::int64_t>(hidden, 0, 1'000'000));
}

std::int64_t SharedLinks::slowed(std::int32_t job, std::int64_t rate) const {
  return std::max<std::int64_t>(1, core::mul_div(rate, steps_.speed_ppm(job), 1'000'000));
}

}  // namespace berth::sim
