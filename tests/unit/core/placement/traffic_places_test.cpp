// Groups are placed by what they exchange: docs/traffic.md, "Places by traffic".
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"

namespace berth::test::traffic_places_test {
namespace {

// Nodes of 4 GPUs: n0 and n1 in rack r0, n2 and n3 in r1. NVLink joins n0 and n2, and n1 and n3.
Snapshot crossed() {
  Snapshot s;
  s.gpu_types.resize(1);
  s.gpu_types[0].id = "H";
  for (const char* id : {"r0", "r1", "v0", "v1"}) {
    Domain domain;
    domain.id = id;
    domain.topology = *id == 'r' ? TopologyKind::kSwitch : TopologyKind::kNvlink;
    domain.level = *id == 'r' ? "rack" : "nvl";
    s.domains.push_back(domain);
  }
  for (int n = 0; n < 4; ++n) {
    Node node;
    node.id = "n" + std::to_string(n);
    node.gpu_type = "H";
    node.gpus = 4;
    node.domain[static_cast<std::size_t>(TopologyKind::kSwitch)] = n < 2 ? "r0" : "r1";
    node.domain[static_cast<std::size_t>(TopologyKind::kNvlink)] = n % 2 == 0 ? "v0" : "v1";
    s.nodes.push_back(node);
  }
  return s;
}

std::vector<std::int32_t> nodes_of(CommKind kind, const std::string& prefer = "") {
  Snapshot s = crossed();
  Job job;
  job.id = "j";
  job.shapes.resize(1);
  job.shapes[0].id = "s";
  job.shapes[0].gpus = 8;
  Group group;
  group.name = "g";
  group.members_min = group.members_want = group.members_max = 2;
  group.gpus_per_member = 4;
  group.communication = {{kind, "", 1'000'000}};
  if (!prefer.empty()) group.prefer = LevelRef{TopologyKind::kSwitch, prefer};
  job.shapes[0].groups = {group};
  s.jobs = {job};
  Request request;
  request.policy = "fifo";
  const ClusterState state(s);
  const Plan plan = Engine().decide(state, request);
  std::vector<std::int32_t> nodes;
  for (const PlanEntry& entry : plan.entries) nodes.push_back(entry.node);
  return nodes;
}

}  // namespace

TEST(TrafficPlaces, TensorsAndExpertsStayInAnNvlinkDomain) {
  EXPECT_EQ(nodes_of(CommKind::kTp), (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(nodes_of(CommKind::kEp), (std::vector<std::int32_t>{0, 2}));
}

TEST(TrafficPlaces, GradientsAndPipelinesStayInARack) {
  EXPECT_EQ(nodes_of(CommKind::kDp), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(nodes_of(CommKind::kPp), (std::vector<std::int32_t>{0, 1}));
}

TEST(TrafficPlaces, WhatTheGroupPrefersGoesBefore) { EXPECT_EQ(nodes_of(CommKind::kTp, "rack"), (std::vector<std::int32_t>{0, 1})); }

}  // namespace berth::test::traffic_places_test
