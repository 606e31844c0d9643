#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "berth/snapshot.hpp"

namespace berth::test {

/// `racks` of two nodes with 4 GPUs each, in pods of two racks. NICs of 10^10 bytes a second, uplinks of racks the same, of
/// pods half of that.
inline Snapshot two_node_racks(std::int32_t racks) {
  Snapshot s;
  GpuType type;
  type.id = "a100";
  type.memory_bytes = std::int64_t{80} << 30;
  type.nvlink_bytes_per_s = 1'000'000'000'000'000;  // nothing to speak of is sent inside a node
  s.gpu_types = {type};
  for (std::int32_t r = 0; r < racks; ++r) {
    const std::string pod = fmt::format("p{}", r / 2), rack = fmt::format("r{}", r);
    if (r % 2 == 0) {
      Domain domain;
      domain.id = pod;
      domain.level = "pod";
      domain.uplink_bytes_per_s = 5'000'000'000;
      s.domains.push_back(domain);
    }
    Domain domain;
    domain.id = rack;
    domain.level = "rack";
    domain.parent = pod;
    domain.uplink_bytes_per_s = 10'000'000'000;
    s.domains.push_back(domain);
    for (std::int32_t n = 0; n < 2; ++n) {
      Node node;
      node.id = fmt::format("n{}", 2 * r + n);
      node.gpu_type = "a100";
      node.gpus = 4;
      node.domain[static_cast<std::size_t>(TopologyKind::kSwitch)] = pod + "/" + rack;
      node.nics = 1;
      node.nic_bytes_per_s = 10'000'000'000;
      s.nodes.push_back(node);
    }
  }
  return s;
}

/// Steps of 1 s, with 10^10 bytes of gradients.
inline Profile second_steps() {
  Profile profile;
  profile.kind = ProfileKind::kClosedForm;
  profile.unit = "steps";
  profile.gradient_bytes = 10'000'000'000;
  profile.closed_form.step = {{"", 0, 1'000'000'000}};
  return profile;
}

}  // namespace berth::test
