#include "host/core/span.hpp"

#include <algorithm>
#include <bit>

#include "host/core/at.hpp"
#include "host/core/state_impl.hpp"
#include "host/core/wide.hpp"

namespace berth::core {
namespace {

void set_type(const StateImpl& s, std::int32_t type, SpanInfo& span) {
  if (type < 0) return;
  span.gpu_type = s.gpu_types[at(type)].id;
  span.nvlink_bytes_per_s = s.gpu_types[at(type)].nvlink_bytes_per_s;
}

std::int64_t tighter(std::int64_t a, std::int64_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

}  // namespace

std::int64_t nic_bandwidth(const Node& node) { return saturating_mul(node.nics, node.nic_bytes_per_s); }

SpanInfo tightest_span(const StateImpl& s, std::int32_t gpu_type, std::int64_t gpus) {
  SpanInfo span;
  set_type(s, gpu_type, span);
  const TypeSize& size = s.type_size[at(gpu_type)];
  span.gpus_per_node = std::max(1, size.gpus_per_node);
  span.nodes = static_cast<std::int32_t>((gpus + span.gpus_per_node - 1) / span.gpus_per_node);
  span.nic_bytes_per_s = size.nic_bytes_per_s;
  if (span.nodes > 1) {
    span.level = 1;
    span.level_name = s.topology.level_name(0, 1);
    span.one_nvlink_domain = gpus <= size.nvlink_gpus;
  }
  return span;
}

SpanInfo span_of(const StateImpl& s, std::span<const PlanEntry> entries) {
  SpanInfo span;
  if (entries.empty()) return span;
  set_type(s, s.node.type[at(entries.front().node)], span);
  span.gpus_per_node = 0;
  const std::int32_t first = entries.front().node;
  const std::int32_t top = s.topology.levels(0) - 1;
  std::int32_t level = 0;
  const std::int32_t nvlink = s.topology.nvlink_domain(first);
  span.one_nvlink_domain = nvlink >= 0;
  std::int32_t last = -1;
  std::int32_t here = 0;
  for (const PlanEntry& e : entries) {
    if (e.node != last) {
      ++span.nodes;
      here = 0;
      last = e.node;
      span.nic_bytes_per_s = tighter(span.nic_bytes_per_s, nic_bandwidth(s.nodes[at(e.node)]));
    }
    here += std::popcount(e.gpus);
    span.gpus_per_node = std::max(span.gpus_per_node, here);
    while (level < top && (level == 0 ? e.node != first : s.topology.domain_of(0, level, e.node) != s.topology.domain_of(0, level, first)))
      ++level;
    if (s.topology.nvlink_domain(e.node) != nvlink) span.one_nvlink_domain = false;
  }
  span.level = level;
  span.level_name = s.topology.level_name(0, level);
  // The gang leaves every domain below the level it spans.
  for (std::int32_t l = 1; l < level; ++l) {
    std::int32_t seen = -1;
    TimeUs latency = 0;
    for (const PlanEntry& e : entries) {
      const std::int32_t d = s.topology.domain_of(0, l, e.node);
      if (d == seen) continue;
      seen = d;
      if (const Domain* domain = s.topology.description(d)) {
        span.uplink_bytes_per_s = tighter(span.uplink_bytes_per_s, domain->uplink_bytes_per_s);
        latency = std::max(latency, domain->latency_us);
      }
    }
    span.latency_ns += latency * 1000;
  }
  return span;
}

}  // namespace berth::core
