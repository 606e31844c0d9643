#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/core/network/traffic.hpp"
#include "tests/unit/core/network/network_support.hpp"

namespace berth::test {

/// Traffic of one gang by the names of links. Nodes n0 n1 | n2 n3 in racks of pod p0, n4 n5 | n6 n7 in those of p1. Members have one GPU.
class GroupTraffic : public ::testing::Test {
 public:
  using Bytes = std::map<std::string, std::int64_t>;

 protected:
  GroupTraffic() { job_.shapes.resize(1); }

  struct Here {
    std::int32_t node, members;
  };
  void group(const std::string& name, std::vector<Communication> communication, const std::vector<Here>& places) {
    Group group;
    group.name = name;
    group.communication = std::move(communication);
    group.members_want = 0;
    for (const Here& here : places) {
      PlanEntry entry;
      entry.node = here.node;
      entry.group = static_cast<std::int32_t>(job_.shapes[0].groups.size());
      entry.member = group.members_want;
      entry.members = here.members;
      entry.gpus = (std::uint64_t{1} << here.members) - 1;
      entries_.push_back(entry);
      group.members_want += here.members;
    }
    job_.shapes[0].gpus += group.members_want;
    job_.shapes[0].groups.push_back(group);
  }
  Bytes bytes(const Snapshot& snapshot) {
    const ClusterState state(snapshot);
    const core::NetworkLinks links(state);
    core::Traffic traffic(state, links);
    Bytes bytes;
    for (const core::LinkBytes& row : traffic.of(job_, job_.shapes[0], entries_)) bytes[core::link_name(state, row.link)] += row.bytes;
    return bytes;
  }
  std::int64_t latency_ns(const Snapshot& snapshot) {
    const ClusterState state(snapshot);
    const core::NetworkLinks links(state);
    core::Traffic traffic(state, links);
    traffic.of(job_, job_.shapes[0], entries_);
    return traffic.latency_ns();
  }
  std::int64_t latency_ns() { return latency_ns(two_node_racks(4)); }
  void clear() {
    job_.shapes[0] = {};
    entries_.clear();
  }
  Bytes bytes() { return bytes(two_node_racks(4)); }

  Job job_;
  std::vector<PlanEntry> entries_;
};

}  // namespace berth::test
