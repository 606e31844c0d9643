#include "host/core/network/traffic.hpp"

#include <algorithm>

#include "host/core/base/wide.hpp"
#include "host/core/state/span.hpp"

namespace berth::core {
namespace {

constexpr std::int32_t kSwitch = static_cast<std::int32_t>(TopologyKind::kSwitch);

}  // namespace

void Traffic::add(std::int32_t link, std::int64_t bytes) {
  if (bytes > 0 && links_.bytes_per_s(link) > 0) rows_.push_back({link, bytes});
}

// Nodes are in order of domain path, so a domain's nodes stand together.
void Traffic::add_domains(std::int64_t bytes) {
  const Topologies& topologies = impl_of(state_).topologies;
  for (std::int32_t level = 1; level + 1 < topologies.levels(kSwitch); ++level) {
    const std::int32_t first = topologies.domain_of(kSwitch, level, nodes_.front().node);
    if (first == topologies.domain_of(kSwitch, level, nodes_.back().node)) return;
    std::int32_t seen = -1;
    for (const NodeGpus& here : nodes_) {
      const std::int32_t domain = topologies.domain_of(kSwitch, level, here.node);
      if (domain != seen) add(links_.of_domain(domain), bytes);
      seen = domain;
    }
  }
}

std::span<const LinkBytes> Traffic::of(const Job& job, const Shape& shape, std::span<const PlanEntry> entries) {
  rows_.clear();
  if (job.profile.gradient_bytes == 0 || entries.empty()) return rows_;
  const SpanInfo span = span_of(impl_of(state_), shape, entries);
  if (span.nodes < 2 || span.one_nvlink_domain) return rows_;
  set_nodes_at_work(shape, entries, nodes_);
  const auto n = static_cast<std::int64_t>(nodes_.size());
  const std::int64_t bytes = mul_div(job.profile.gradient_bytes, 2 * (n - 1), n);
  for (const NodeGpus& here : nodes_) add(links_.of_node(here.node), bytes);
  add_domains(bytes);
  std::sort(rows_.begin(), rows_.end(), [](const LinkBytes& a, const LinkBytes& b) { return a.link < b.link; });
  return rows_;
}

}  // namespace berth::core
