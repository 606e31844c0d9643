// Traffic that groups state, by its kind: each number by hand.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/unit/core/network/group_traffic.hpp"
#include "tests/unit/core/network/network_support.hpp"

namespace berth::core::traffic_kinds_test {
namespace {

using Bytes = test::GroupTraffic::Bytes;
constexpr std::int64_t kGB = 1'000'000'000;

using TrafficOfGroups = test::GroupTraffic;

// Of 8 GB to 8 members each gives 1 GB to each: 2 members of a node send 6 GB each, and as much arrives.
TEST_F(TrafficOfGroups, AllToAllLeavesDomainsByTheirMembers) {
  group("experts", {{CommKind::kEp, "", 8 * kGB}}, {{0, 2}, {1, 2}, {2, 2}, {4, 2}});
  const Bytes want{{"the NICs of node n0", 12 * kGB},      {"the NICs of node n1", 12 * kGB},      {"the NICs of node n2", 12 * kGB},
                   {"the NICs of node n4", 12 * kGB},      {"the uplink of pod p0", 12 * kGB},     {"the uplink of pod p1", 12 * kGB},
                   {"the uplink of rack p0/r0", 16 * kGB}, {"the uplink of rack p0/r1", 12 * kGB}, {"the uplink of rack p1/r2", 12 * kGB}};
  EXPECT_EQ(bytes(), want);
}

TEST_F(TrafficOfGroups, AllToAllInsideOneNodeUsesNoLink) {
  group("experts", {{CommKind::kEp, "", 8 * kGB}}, {{3, 4}});
  EXPECT_EQ(bytes(), Bytes{});
}

// A part of an all-to-all within an NVLink domain uses no NIC.
TEST_F(TrafficOfGroups, AllToAllAmongNvlinkDomains) {
  Snapshot s = test::two_node_racks(4);
  Domain domain;
  domain.topology = TopologyKind::kNvlink;
  domain.id = "d";
  domain.level = "domain";
  s.domains.push_back(domain);
  for (std::size_t n = 0; n < 2; ++n) s.nodes[n].domain[static_cast<std::size_t>(TopologyKind::kNvlink)] = "d";
  group("experts", {{CommKind::kEp, "", 8 * kGB}}, {{0, 2}, {1, 2}, {2, 4}});
  const Bytes want{{"the NICs of node n0", 8 * kGB},
                   {"the NICs of node n1", 8 * kGB},
                   {"the NICs of node n2", 16 * kGB},
                   {"the uplink of rack p0/r0", 16 * kGB},
                   {"the uplink of rack p0/r1", 16 * kGB}};
  EXPECT_EQ(bytes(s), want);
}

// Two stages of two members: member i gives its activations to member i, and gets gradients of the same size.
TEST_F(TrafficOfGroups, APipelineGoesToTheCounterpartAndBack) {
  group("stage0", {{CommKind::kPp, "stage1", 3 * kGB}}, {{0, 1}, {1, 1}});
  group("stage1", {}, {{1, 1}, {2, 1}});
  // n0 to n1, n1 to n2: n1 sends 3 to n2 and 3 back to n0.
  const Bytes want{{"the NICs of node n0", 3 * kGB},
                   {"the NICs of node n1", 6 * kGB},
                   {"the NICs of node n2", 3 * kGB},
                   {"the uplink of rack p0/r0", 3 * kGB},
                   {"the uplink of rack p0/r1", 3 * kGB}};
  EXPECT_EQ(bytes(), want);
}

// Four members to two: 0 and 1 to the first, 2 and 3 to the second.
TEST_F(TrafficOfGroups, APipelineToFewerMembers) {
  group("stage0", {{CommKind::kPp, "stage1", kGB}}, {{0, 4}});
  group("stage1", {}, {{0, 1}, {1, 1}});
  EXPECT_EQ(bytes(), (Bytes{{"the NICs of node n0", 2 * kGB}, {"the NICs of node n1", 2 * kGB}}));
}

TEST_F(TrafficOfGroups, APipelineOfTheMembersOfAGroupIsAChain) {
  group("stages", {{CommKind::kPp, "", kGB}}, {{0, 1}, {1, 1}, {6, 1}});
  const Bytes want{{"the NICs of node n0", kGB},     {"the NICs of node n1", 2 * kGB}, {"the NICs of node n6", kGB},
                   {"the uplink of pod p0", kGB},    {"the uplink of pod p1", kGB},    {"the uplink of rack p0/r0", kGB},
                   {"the uplink of rack p1/r3", kGB}};
  EXPECT_EQ(bytes(), want);
}

// Each of 4 prefill members sends 4 GB, evenly to 2 decode members: one way only.
TEST_F(TrafficOfGroups, TheCacheGoesOneWay) {
  group("prefill", {{CommKind::kKv, "decode", 4 * kGB}}, {{0, 4}});
  group("decode", {}, {{0, 1}, {2, 1}});
  const Bytes want{{"the NICs of node n0", 8 * kGB},
                   {"the NICs of node n2", 8 * kGB},
                   {"the uplink of rack p0/r0", 8 * kGB},
                   {"the uplink of rack p0/r1", 8 * kGB}};
  EXPECT_EQ(bytes(), want);
}

// A ring of the members' nodes: 2 (2 - 1) / 2 of the bytes. Tensor-parallel groups do the same.
TEST_F(TrafficOfGroups, RingsOfGroupsAddUp) {
  for (const CommKind kind : {CommKind::kDp, CommKind::kTp}) {
    clear();
    group("a", {{kind, "", 5 * kGB}}, {{0, 4}, {1, 2}});
    group("b", {{kind, "", 7 * kGB}}, {{1, 2}, {3, 2}});
    const Bytes want{{"the NICs of node n0", 5 * kGB},
                     {"the NICs of node n1", 12 * kGB},
                     {"the NICs of node n3", 7 * kGB},
                     {"the uplink of rack p0/r0", 7 * kGB},
                     {"the uplink of rack p0/r1", 7 * kGB}};
    EXPECT_EQ(bytes(), want);
  }
}

// Members of two GPUs keep it inside themselves.
TEST_F(TrafficOfGroups, TensorParallelMembersOfSeveralGpusUseNoLink) {
  group("a", {{CommKind::kTp, "", 5 * kGB}, {CommKind::kDp, "", 2 * kGB}}, {{0, 1}, {1, 1}});
  job_.shapes[0].groups[0].gpus_per_member = 2;
  EXPECT_EQ(bytes(), (Bytes{{"the NICs of node n0", 2 * kGB}, {"the NICs of node n1", 2 * kGB}}));
}

// Two segments of 4 members, whatever their nodes: of 4 GB each gives 1 GB to each. The second is on n1 and n2.
TEST_F(TrafficOfGroups, AllToAllStaysInsideSegments) {
  group("experts", {{CommKind::kEp, "", 4 * kGB}}, {{0, 4}, {1, 3}, {2, 1}});
  job_.shapes[0].groups[0].segment = Segment{4, {}};
  const Bytes want{{"the NICs of node n1", 3 * kGB},
                   {"the NICs of node n2", 3 * kGB},
                   {"the uplink of rack p0/r0", 3 * kGB},
                   {"the uplink of rack p0/r1", 3 * kGB}};
  EXPECT_EQ(bytes(), want);
}

// Replicas that state their neighbour: one way, to the counterpart.
TEST_F(TrafficOfGroups, GradientsOfReplicasGoToTheNeighbour) {
  group("replica0", {{CommKind::kDp, "replica1", 2 * kGB}}, {{0, 1}});
  group("replica1", {{CommKind::kDp, "replica0", 2 * kGB}}, {{2, 1}});
  const Bytes want{{"the NICs of node n0", 2 * kGB},
                   {"the NICs of node n2", 2 * kGB},
                   {"the uplink of rack p0/r0", 2 * kGB},
                   {"the uplink of rack p0/r1", 2 * kGB}};
  EXPECT_EQ(bytes(), want);
}

TEST_F(TrafficOfGroups, StatedCommunicationReplacesTheGradients) {
  job_.profile = test::second_steps();
  group("a", {{CommKind::kEp, "", 0}}, {{0, 4}, {1, 4}});
  EXPECT_EQ(bytes(), Bytes{});
  job_.shapes[0].groups[0].communication.clear();
  EXPECT_EQ(bytes(), (Bytes{{"the NICs of node n0", 10 * kGB}, {"the NICs of node n1", 10 * kGB}}));
}

TEST_F(TrafficOfGroups, SparesSendNothing) {
  group("a", {{CommKind::kEp, "", 4 * kGB}}, {{0, 2}, {1, 2}, {2, 2}});
  Group& a = job_.shapes[0].groups[0];
  a.members_min = a.members_want = a.members_max = 4;
  a.spares = 2;
  EXPECT_EQ(bytes(), (Bytes{{"the NICs of node n0", 4 * kGB}, {"the NICs of node n1", 4 * kGB}}));
}

TEST_F(TrafficOfGroups, WhatIsMoreThanCanBeCountedIsTheMost) {
  const std::int64_t most = std::int64_t{1} << 62;
  group("a", {{CommKind::kEp, "", most}, {CommKind::kEp, "", most}, {CommKind::kKv, "", most}}, {{0, 4}, {1, 4}});
  EXPECT_EQ(bytes().at("the NICs of node n0"), INT64_MAX);
}

}  // namespace
}  // namespace berth::core::traffic_kinds_test
