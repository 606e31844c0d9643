#include "host/sim/replay/shared_links.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/network/gang_steps.hpp"

namespace berth::sim {

SharedLinks::SharedLinks(const ClusterState& state, bool apart)
    : state_(state), links_(state), traffic_(state, links_), steps_(links_, apart) {}

void SharedLinks::start(std::int32_t job, const Job& description) {
  stop(job);
  const std::int32_t shape = StateView(state_).job().shape[to_index(job)];
  if (links_.none() || shape < 0) return;
  const std::span<const PlanEntry> entries = StateView(state_).jobs()[to_index(job)].entries;
  const core::GangStep step = core::gang_step(state_, description, shape, entries);
  if (step.ns == 0) return;
  const std::span<const core::LinkBytes> rows = traffic_.of(description, description.shapes[to_index(shape)], entries);
  steps_.add(job, rows, step.ns, step.exposed_ppm, step.included_ns, traffic_.latency_ns());
}

std::int64_t SharedLinks::slowed(std::int32_t job, std::int64_t rate) const {
  return std::max<std::int64_t>(1, core::mul_div(rate, steps_.speed_ppm(job), 1'000'000));
}

}  // namespace berth::sim
