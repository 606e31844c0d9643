// Latency of communication that groups state: each number by hand. A hop takes 15 us in a rack, 17 in a pod, 19 between pods.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "host/core/network/gang_steps.hpp"
#include "tests/unit/core/network/group_traffic.hpp"
#include "tests/unit/core/network/network_support.hpp"

namespace berth::core::latency_test {
namespace {

using LatencyOfGroups = test::GroupTraffic;
constexpr std::int64_t kUs = 1'000;

TEST_F(LatencyOfGroups, AlgorithmsTakeTheirHops) {
  struct Case {
    CommAlgorithm algorithm;
    std::int64_t two, five;  // hops: 2 (n - 1), 2 log2 n rounded up, 2, 3 (n - 1)
  };
  for (const Case& one : {Case{CommAlgorithm::kRing, 2, 8}, Case{CommAlgorithm::kTree, 2, 6}, Case{CommAlgorithm::kInNetwork, 2, 2},
                          Case{CommAlgorithm::kSharded, 3, 12}}) {
    clear();
    group("g", {{CommKind::kDp, "", 1, one.algorithm}}, {{0, 1}, {1, 1}});
    EXPECT_EQ(latency_ns(), one.two * 15 * kUs);
    clear();
    group("g", {{CommKind::kTp, "", 1, one.algorithm}}, {{0, 1}, {1, 2}, {2, 1}, {4, 1}, {6, 1}});
    EXPECT_EQ(latency_ns(), one.five * 19 * kUs);
  }
}

TEST_F(LatencyOfGroups, OneNodeWaitsForNoHop) {
  for (const CommKind kind : {CommKind::kTp, CommKind::kPp, CommKind::kDp, CommKind::kEp, CommKind::kKv}) {
    group("g", {{kind, "", 1}}, {{3, 2}});
    group("h", {{kind, "g", 1}}, {{3, 1}});
    EXPECT_EQ(latency_ns(), 0);
    clear();
  }
}

TEST_F(LatencyOfGroups, WithoutBytesThereIsNoHop) {
  group("g", {{CommKind::kEp, "", 0}}, {{0, 1}, {1, 1}});
  EXPECT_EQ(latency_ns(), 0);
}

// The profile's all-reduce has its own.
TEST_F(LatencyOfGroups, GradientsOfAProfileAreNotCountedTwice) {
  job_.profile = test::second_steps();
  group("g", {}, {{0, 1}, {1, 1}});
  EXPECT_EQ(latency_ns(), 0);
  EXPECT_EQ(bytes().size(), 2U);
}

// To two other nodes.
TEST_F(LatencyOfGroups, AllToAllGoesToOneNodeAfterTheOther) {
  group("experts", {{CommKind::kEp, "", 1}}, {{0, 2}, {1, 1}, {2, 1}});
  EXPECT_EQ(latency_ns(), 2 * 17 * kUs);
}

// From n0, which decodes too, to n2; and from n1 to both.
TEST_F(LatencyOfGroups, ACacheGoesToTheNodesOfThePeer) {
  group("prefill", {{CommKind::kKv, "decode", 1}}, {{0, 1}});
  group("decode", {}, {{0, 1}, {2, 1}});
  EXPECT_EQ(latency_ns(), 17 * kUs);
  clear();
  group("prefill", {{CommKind::kKv, "decode", 1}}, {{1, 1}});
  group("decode", {}, {{0, 1}, {2, 1}});
  EXPECT_EQ(latency_ns(), 2 * 17 * kUs);
}

// n0 to n1 and n1 to n2, forward and back. Both groups together span the pod, as does the second pair.
TEST_F(LatencyOfGroups, APipelineGoesForwardAndBack) {
  group("stage0", {{CommKind::kPp, "stage1", 1}}, {{0, 1}, {1, 1}});
  group("stage1", {}, {{1, 1}, {2, 1}});
  EXPECT_EQ(latency_ns(), 2 * 17 * kUs);
  clear();
  group("stages", {{CommKind::kPp, "", 1}}, {{0, 1}, {1, 1}, {6, 1}});
  EXPECT_EQ(latency_ns(), 2 * 19 * kUs);
}

// Counterparts are in the same rack, though each group is in two pods.
TEST_F(LatencyOfGroups, APipelineWaitsForItsPairsAlone) {
  group("stage0", {{CommKind::kPp, "stage1", 1}}, {{0, 1}, {4, 1}});
  group("stage1", {}, {{1, 2}, {5, 2}});
  EXPECT_EQ(latency_ns(), 2 * 15 * kUs);
}

// The only member goes to the first of two in n1; of two members the second goes to the third of four, in n4.
TEST_F(LatencyOfGroups, APipelineToMoreMembers) {
  group("stage0", {{CommKind::kPp, "stage1", 1}}, {{0, 2}});
  group("stage1", {}, {{1, 1}, {4, 3}});
  EXPECT_EQ(latency_ns(), 2 * 19 * kUs);
}

// Each of two replicas sends to the other: a node takes part in both.
TEST_F(LatencyOfGroups, GradientsGoToTheNeighbourInOneHop) {
  group("replica0", {{CommKind::kDp, "replica1", 1}}, {{0, 1}});
  group("replica1", {}, {{2, 1}});
  EXPECT_EQ(latency_ns(), 17 * kUs);
  job_.shapes[0].groups[1].communication = {{CommKind::kDp, "replica0", 1}};
  EXPECT_EQ(latency_ns(), 2 * 17 * kUs);
}

// Groups on other nodes communicate at the same time, those of one node one after the other.
TEST_F(LatencyOfGroups, WhatANodeTakesPartInAddsUp) {
  group("a", {{CommKind::kDp, "", 1}}, {{0, 1}, {1, 1}});
  group("b", {{CommKind::kDp, "", 1}}, {{2, 1}, {3, 1}});
  EXPECT_EQ(latency_ns(), 2 * 15 * kUs);
  group("c", {{CommKind::kDp, "", 1}}, {{1, 1}, {2, 1}});
  EXPECT_EQ(latency_ns(), 2 * 15 * kUs + 2 * 17 * kUs);
}

// Segments of two members: n0 alone, then n0 with n1, then n1 with n2. n1 takes part in two of them.
TEST_F(LatencyOfGroups, SegmentsWaitForTheirOwnHops) {
  group("experts", {{CommKind::kEp, "", 1}}, {{0, 3}, {1, 2}, {2, 1}});
  job_.shapes[0].groups[0].segment = Segment{2, {}};
  EXPECT_EQ(latency_ns(), 15 * kUs + 17 * kUs);
}

// Of the levels below the one that is spanned the largest counts.
TEST_F(LatencyOfGroups, StatedLatenciesAreAdded) {
  Snapshot s = test::two_node_racks(4);
  for (Domain& domain : s.domains) {
    domain.latency_us = domain.level == "pod" ? 100 : domain.id == "r1" ? 7 : 5;
  }
  group("g", {{CommKind::kDp, "", 1}}, {{0, 1}, {1, 1}});
  EXPECT_EQ(latency_ns(s), 2 * 15 * kUs);
  clear();
  group("g", {{CommKind::kDp, "", 1}}, {{0, 1}, {2, 1}});
  EXPECT_EQ(latency_ns(s), 2 * (17 + 7) * kUs);
  clear();
  group("g", {{CommKind::kPp, "", 1}}, {{0, 1}, {4, 1}});
  EXPECT_EQ(latency_ns(s), 2 * (19 + 5 + 100) * kUs);
}

TEST_F(LatencyOfGroups, NvlinkDomainsHaveShorterHops) {
  Snapshot s = test::two_node_racks(4);
  Domain domain;
  domain.topology = TopologyKind::kNvlink;
  domain.id = "d";
  domain.level = "domain";
  s.domains.push_back(domain);
  for (std::size_t n = 0; n < 3; ++n) s.nodes[n].domain[static_cast<std::size_t>(TopologyKind::kNvlink)] = "d";
  group("g", {{CommKind::kTp, "", 1}}, {{0, 1}, {2, 1}});
  EXPECT_EQ(latency_ns(s), 2 * 3'400);
  s.gpu_types[0].nvlink_bytes_per_s = 0;
  EXPECT_EQ(latency_ns(s), 2 * 5'700);
  clear();
  group("g", {{CommKind::kTp, "", 1}}, {{0, 1}, {3, 1}});
  EXPECT_EQ(latency_ns(s), 2 * 17 * kUs);
}

TEST_F(LatencyOfGroups, SparesTakeNoHop) {
  group("a", {{CommKind::kEp, "", 1}}, {{0, 2}, {1, 2}, {6, 2}});
  Group& a = job_.shapes[0].groups[0];
  a.members_min = a.members_want = a.members_max = 4;
  a.spares = 2;
  EXPECT_EQ(latency_ns(), 15 * kUs);
}

TEST_F(LatencyOfGroups, WhatIsMoreThanCanBeCountedIsTheMost) {
  Snapshot s = test::two_node_racks(4);
  for (Domain& domain : s.domains) domain.latency_us = kMaxTimeUs;
  group("a", {{CommKind::kDp, "", 1}}, {{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}});
  EXPECT_EQ(latency_ns(s), INT64_MAX);
}

// A ring of nodes with one GPU each waits as long as the all-reduce of a profile (docs/profiles.md).
TEST_F(LatencyOfGroups, ARingWaitsAsTheAllReduceOfAProfile) {
  job_.profile = test::second_steps();
  job_.profile.gradient_bytes = 0;
  for (const std::vector<Here>& places : {std::vector<Here>{{0, 1}, {1, 1}}, {{0, 1}, {2, 1}, {3, 1}}, {{1, 1}, {3, 1}, {4, 1}, {7, 1}}}) {
    clear();
    group("g", {{CommKind::kDp, "", 1}}, places);
    const ClusterState state(test::two_node_racks(4));
    EXPECT_EQ(gang_step(state, job_, 0, entries_).included_ns, latency_ns());
  }
}

}  // namespace
}  // namespace berth::core::latency_test
