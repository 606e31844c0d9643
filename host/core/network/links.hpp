#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/core/state/state_view.hpp"

namespace berth::core {

/// The links of the switch topology: for each node its NICs together, and for each switch domain its uplinks together. A link
/// carries as much in each direction.
class NetworkLinks {
 public:
  explicit NetworkLinks(const StateView& view);

  std::int32_t size() const { return static_cast<std::int32_t>(bytes_per_s_.size()); }
  /// Whether no link has a known bandwidth: contention is not modelled then.
  bool none() const { return none_; }
  std::int32_t of_node(std::int32_t node) const { return node; }
  std::int32_t of_domain(std::int32_t domain) const { return n_nodes_ + domain; }
  /// Bytes per second; 0: not known, so never a limit.
  std::int64_t bytes_per_s(std::int32_t link) const { return bytes_per_s_[static_cast<std::size_t>(link)]; }

 private:
  std::int32_t n_nodes_;
  bool none_ = true;
  std::vector<std::int64_t> bytes_per_s_;  // [nodes, domains of all topologies]
};

/// "the NICs of node n3", "the uplink of rack pod0/rack1".
std::string link_name(const StateView& view, std::int32_t link);

}  // namespace berth::core
