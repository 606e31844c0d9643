#include "host/core/choice/link_load.hpp"

#include <algorithm>

#include "berth/kernel/base/plan_terms.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/span.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {
namespace {

constexpr std::int32_t kSwitch = static_cast<std::int32_t>(TopologyKind::kSwitch);

}  // namespace

void LinkLoad::set(const StateImpl& s, const Plan& plan) {
  load_.assign(s.nodes.size() + to_index(s.topologies.size()), 0);
  link_.clear();
  link_begin_.assign(1, 0);
  for (const Decision& d : plan.decisions) {
    if (runs_now(d.action)) add(s, plan, d);
    link_begin_.push_back(link_.size());
  }
}

void LinkLoad::add(const StateImpl& s, const Plan& plan, const Decision& d) {
  const std::span<const PlanEntry> entries(plan.entries.data() + d.entry_begin, to_index(d.entry_end - d.entry_begin));
  const PlacedStep step = placed_step(s, *s.jobs[to_index(d.job)].job, d.shape, entries);
  if (step.ns == 0 || step.span.nodes < 2 || step.span.one_nvlink_domain) return;
  set_nodes_at_work(s.jobs[to_index(d.job)].job->shapes[to_index(d.shape)], entries, nodes_);
  const auto n = static_cast<std::int64_t>(nodes_.size());
  // Bytes that every member of a ring sends in a step.
  const std::int64_t bytes = mul_div(s.jobs[to_index(d.job)].job->profile.gradient_bytes, 2 * (n - 1), n);
  const auto use = [&](std::int32_t link, std::int64_t bytes_per_s) {
    if (bytes_per_s <= 0) return;
    load_[to_index(link)] = saturating_add(load_[to_index(link)], kernel::link_use(bytes, bytes_per_s, step.ns));
    link_.push_back(link);
  };
  for (const NodeGpus& here : nodes_) use(here.node, nic_bandwidth(s.nodes[to_index(here.node)]));
  // The gang leaves every domain below the level that it spans once. Nodes are in order of domain path.
  for (std::int32_t level = 1; level < step.span.level; ++level) {
    std::int32_t seen = -1;
    for (const NodeGpus& here : nodes_) {
      const std::int32_t domain = s.topologies.domain_of(kSwitch, level, here.node);
      if (domain == seen) continue;
      seen = domain;
      const Domain* const description = s.topologies.description(domain);
      if (description != nullptr) use(static_cast<std::int32_t>(s.nodes.size()) + domain, description->uplink_bytes_per_s);
    }
  }
}

std::int64_t LinkLoad::of(std::size_t decision) const {
  std::int64_t most = 0;
  for (std::size_t i = link_begin_[decision]; i < link_begin_[decision + 1]; ++i) most = std::max(most, load_[to_index(link_[i])]);
  return most;
}

}  // namespace berth::core
