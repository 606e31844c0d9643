#include "host/core/network/links.hpp"

#include <fmt/format.h>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/span.hpp"

namespace berth::core {

NetworkLinks::NetworkLinks(const StateView& view) {
  const StateImpl& s = impl_of(view);
  n_nodes_ = static_cast<std::int32_t>(s.nodes.size());
  for (const Node& node : s.nodes) bytes_per_s_.push_back(nic_bandwidth(node));
  for (std::int32_t domain = 0; domain < s.topologies.size(); ++domain) {
    const Domain* const description = s.topologies.description(domain);
    const bool is_switch = description != nullptr && description->topology == TopologyKind::kSwitch;
    bytes_per_s_.push_back(is_switch ? description->uplink_bytes_per_s : 0);
  }
  for (const std::int64_t known : bytes_per_s_) none_ = none_ && known == 0;
}

std::string link_name(const StateView& view, std::int32_t link) {
  const StateImpl& s = impl_of(view);
  const auto nodes = static_cast<std::int32_t>(s.nodes.size());
  if (link < nodes) return fmt::format("the NICs of node {}", s.nodes[to_index(link)].id);
  const std::int32_t domain = link - nodes;
  const std::string& level = s.topologies.level_name(s.topologies.topology_of(domain), s.topologies.level_of(domain));
  return fmt::format("the uplink of {} {}", level, s.topologies.path(domain));
}

}  // namespace berth::core
