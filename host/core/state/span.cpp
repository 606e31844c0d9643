#include "host/core/state/span.hpp"

#include <algorithm>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/members_at_work.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

void set_type(const StateImpl& s, std::int32_t type, SpanInfo& span) {
  if (type < 0) return;
  span.gpu_type = s.gpu_types[to_index(type)].id;
  span.nvlink_bytes_per_s = s.gpu_types[to_index(type)].nvlink_bytes_per_s;
}

std::int64_t tighter(std::int64_t a, std::int64_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

}  // namespace

std::int64_t nic_bandwidth(const Node& node) { return saturating_mul(node.nics, node.nic_bytes_per_s); }

SpanInfo tightest_span(const StateImpl& s, std::int32_t gpu_type, std::int64_t gpus) {
  SpanInfo span;
  set_type(s, gpu_type, span);
  const TypeSize& size = s.type_size[to_index(gpu_type)];
  span.gpus_per_node = std::max(1, size.gpus_per_node);
  span.nodes = static_cast<std::int32_t>((gpus + span.gpus_per_node - 1) / span.gpus_per_node);
  span.nic_bytes_per_s = size.nic_bytes_per_s;
  if (span.nodes > 1) {
    span.level = 1;
    span.level_name = s.topologies.level_name(0, 1);
    span.one_nvlink_domain = gpus <= size.nvlink_gpus;
  }
  return span;
}

SpanInfo span_of(const StateImpl& s, const Shape& shape, std::span<const PlanEntry> entries) {
  SpanInfo span;
  if (entries.empty()) return span;
  thread_local std::vector<NodeGpus> nodes;  // kept between calls
  set_nodes_at_work(shape, entries, nodes);
  if (nodes.empty()) return span;
  const std::int32_t first = nodes.front().node;
  set_type(s, s.node.type[to_index(first)], span);
  span.nodes = static_cast<std::int32_t>(nodes.size());
  span.gpus_per_node = 0;
  const std::int32_t top = s.topologies.levels(0) - 1;
  std::int32_t level = 0;
  const std::int32_t nvlink = s.topologies.nvlink_domain(first);
  span.one_nvlink_domain = nvlink >= 0;
  for (const NodeGpus& here : nodes) {
    span.nic_bytes_per_s = tighter(span.nic_bytes_per_s, nic_bandwidth(s.nodes[to_index(here.node)]));
    span.gpus_per_node = std::max(span.gpus_per_node, here.gpus);
    const auto apart = [&] {
      return level == 0 ? here.node != first : s.topologies.domain_of(0, level, here.node) != s.topologies.domain_of(0, level, first);
    };
    while (level < top && apart()) ++level;
    if (s.topologies.nvlink_domain(here.node) != nvlink) span.one_nvlink_domain = false;
  }
  span.level = level;
  span.level_name = s.topologies.level_name(0, level);
  // The gang leaves every domain below the level that it spans.
  for (std::int32_t l = 1; l < level; ++l) {
    std::int32_t seen = -1;
    TimeUs latency = 0;
    for (const NodeGpus& here : nodes) {
      const std::int32_t d = s.topologies.domain_of(0, l, here.node);
      if (d == seen) continue;
      seen = d;
      if (const Domain* domain = s.topologies.description(d)) {
        span.uplink_bytes_per_s = tighter(span.uplink_bytes_per_s, domain->uplink_bytes_per_s);
        latency = std::max(latency, domain->latency_us);
      }
    }
    span.latency_ns += latency * 1000;
  }
  return span;
}

}  // namespace berth::core
