// Traffic of the algorithms by which groups add up their data: each number by hand.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "host/core/network/double_tree.hpp"
#include "tests/unit/core/network/group_traffic.hpp"
#include "tests/unit/core/network/network_support.hpp"

namespace berth::core::algorithms_test {
namespace {

using TrafficOfAlgorithms = test::GroupTraffic;
using Bytes = test::GroupTraffic::Bytes;
constexpr std::int64_t kGB = 1'000'000'000;
constexpr std::array kAll{CommAlgorithm::kRing, CommAlgorithm::kTree, CommAlgorithm::kInNetwork, CommAlgorithm::kSharded};

Communication adds_up(CommAlgorithm algorithm, std::int64_t bytes) { return {CommKind::kDp, "", bytes, algorithm}; }

TEST_F(TrafficOfAlgorithms, OneNodeUsesNoLink) {
  for (const CommAlgorithm algorithm : kAll) {
    group("g", {adds_up(algorithm, 6 * kGB)}, {{1, 4}});
    EXPECT_EQ(bytes(), Bytes{});
  }
}

// A ring sends 2 (2 - 1) / 2 of the bytes, and so do two trees of one edge each. Sharded training sends 3 (2 - 1) / 2.
TEST_F(TrafficOfAlgorithms, TwoNodes) {
  const std::array<std::int64_t, 4> want{6, 6, 6, 9};
  for (std::size_t i = 0; i < kAll.size(); ++i) {
    clear();
    group("g", {adds_up(kAll[i], 6 * kGB)}, {{0, 1}, {1, 3}});
    EXPECT_EQ(bytes(), (Bytes{{"the NICs of node n0", want[i] * kGB}, {"the NICs of node n1", want[i] * kGB}})) << i;
  }
}

// Trees 1-2 2-0 and 2-0 0-1 of 3 GB each. Three edges leave n2.
TEST_F(TrafficOfAlgorithms, ATreeOfThreeNodesWhateverTheirMembers) {
  group("g", {adds_up(CommAlgorithm::kTree, 6 * kGB)}, {{0, 3}, {1, 1}, {2, 2}});
  const Bytes want{{"the NICs of node n0", 9 * kGB},
                   {"the NICs of node n1", 6 * kGB},
                   {"the NICs of node n2", 9 * kGB},
                   {"the uplink of rack p0/r0", 9 * kGB},
                   {"the uplink of rack p0/r1", 9 * kGB}};
  EXPECT_EQ(bytes(), want);
}

// Trees 1-2 2-0 3-2 and, mirrored, 2-1 1-3 0-1. Two edges of each leave a rack.
TEST_F(TrafficOfAlgorithms, ATreeOfFourNodesIsMirrored) {
  group("g", {adds_up(CommAlgorithm::kTree, 2 * kGB)}, {{0, 1}, {1, 1}, {2, 1}, {3, 1}});
  const Bytes want{{"the NICs of node n0", 2 * kGB}, {"the NICs of node n1", 4 * kGB},      {"the NICs of node n2", 4 * kGB},
                   {"the NICs of node n3", 2 * kGB}, {"the uplink of rack p0/r0", 4 * kGB}, {"the uplink of rack p0/r1", 4 * kGB}};
  EXPECT_EQ(bytes(), want);
}

// Trees 1-2 2-4 3-2 4-0 and, shifted, 2-3 3-0 4-3 0-1 over n0 n1 n2 | n4 n6 in pods. Three edges and two leave the pods.
TEST_F(TrafficOfAlgorithms, ATreeOfFiveNodesInTwoPods) {
  group("g", {adds_up(CommAlgorithm::kTree, 2 * kGB)}, {{0, 1}, {1, 1}, {2, 1}, {4, 1}, {6, 1}});
  const Bytes want{{"the NICs of node n0", 3 * kGB},      {"the NICs of node n1", 2 * kGB},      {"the NICs of node n2", 4 * kGB},
                   {"the NICs of node n4", 4 * kGB},      {"the NICs of node n6", 3 * kGB},      {"the uplink of pod p0", 5 * kGB},
                   {"the uplink of pod p1", 5 * kGB},     {"the uplink of rack p0/r0", 3 * kGB}, {"the uplink of rack p0/r1", 4 * kGB},
                   {"the uplink of rack p1/r2", 4 * kGB}, {"the uplink of rack p1/r3", 3 * kGB}};
  EXPECT_EQ(bytes(), want);
}

// 2 bytes in the first tree, 1 in the second.
TEST_F(TrafficOfAlgorithms, AnOddByteIsInTheFirstTree) {
  group("g", {adds_up(CommAlgorithm::kTree, 3)}, {{0, 1}, {1, 1}, {2, 1}});
  const Bytes sent = bytes();
  EXPECT_EQ(sent.at("the NICs of node n0"), 4);
  EXPECT_EQ(sent.at("the NICs of node n1"), 3);
  EXPECT_EQ(sent.at("the NICs of node n2"), 5);
}

// An edge within an NVLink domain uses no NIC: 0-1 of the second tree.
TEST_F(TrafficOfAlgorithms, ATreeAmongNvlinkDomains) {
  Snapshot s = test::two_node_racks(4);
  Domain domain;
  domain.topology = TopologyKind::kNvlink;
  domain.id = "d";
  domain.level = "domain";
  s.domains.push_back(domain);
  for (std::size_t n = 0; n < 2; ++n) s.nodes[n].domain[static_cast<std::size_t>(TopologyKind::kNvlink)] = "d";
  group("g", {adds_up(CommAlgorithm::kTree, 6 * kGB)}, {{0, 1}, {1, 1}, {2, 1}});
  const Bytes want{{"the NICs of node n0", 6 * kGB},
                   {"the NICs of node n1", 3 * kGB},
                   {"the NICs of node n2", 9 * kGB},
                   {"the uplink of rack p0/r0", 9 * kGB},
                   {"the uplink of rack p0/r1", 9 * kGB}};
  EXPECT_EQ(bytes(s), want);
  for (const CommAlgorithm algorithm : kAll) {
    clear();
    group("g", {adds_up(algorithm, 6 * kGB)}, {{0, 1}, {1, 1}});
    EXPECT_EQ(bytes(s), Bytes{});
  }
}

// Every node and every domain sends the bytes once.
TEST_F(TrafficOfAlgorithms, SwitchesAddUp) {
  group("g", {adds_up(CommAlgorithm::kInNetwork, 5 * kGB)}, {{0, 1}, {1, 2}, {2, 1}, {4, 4}});
  const Bytes want{{"the NICs of node n0", 5 * kGB},      {"the NICs of node n1", 5 * kGB},      {"the NICs of node n2", 5 * kGB},
                   {"the NICs of node n4", 5 * kGB},      {"the uplink of pod p0", 5 * kGB},     {"the uplink of pod p1", 5 * kGB},
                   {"the uplink of rack p0/r0", 5 * kGB}, {"the uplink of rack p0/r1", 5 * kGB}, {"the uplink of rack p1/r2", 5 * kGB}};
  EXPECT_EQ(bytes(), want);
}

// 3 (4 - 1) / 4 of the bytes. The same among tensor-parallel members of one GPU.
TEST_F(TrafficOfAlgorithms, ShardedTrainingSendsHalfAsMuchAgainAsARing) {
  for (const CommKind kind : {CommKind::kDp, CommKind::kTp}) {
    clear();
    group("g", {{kind, "", 8 * kGB, CommAlgorithm::kSharded}}, {{0, 1}, {1, 1}, {2, 1}, {3, 1}});
    const Bytes want{{"the NICs of node n0", 18 * kGB}, {"the NICs of node n1", 18 * kGB},      {"the NICs of node n2", 18 * kGB},
                     {"the NICs of node n3", 18 * kGB}, {"the uplink of rack p0/r0", 18 * kGB}, {"the uplink of rack p0/r1", 18 * kGB}};
    EXPECT_EQ(bytes(), want);
  }
}

TEST_F(TrafficOfAlgorithms, TensorParallelMembersOfSeveralGpusUseNoLink) {
  for (const CommAlgorithm algorithm : kAll) group("g", {{CommKind::kTp, "", 5 * kGB, algorithm}}, {{0, 1}, {1, 1}});
  for (Group& one : job_.shapes[0].groups) one.gpus_per_member = 2;
  EXPECT_EQ(bytes(), Bytes{});
}

// Four halves of 2^62 at the inner node n2 of five, and 3 (5 - 1) / 5 of it.
TEST_F(TrafficOfAlgorithms, WhatIsMoreThanCanBeCountedIsTheMost) {
  for (const CommAlgorithm algorithm : {CommAlgorithm::kTree, CommAlgorithm::kSharded}) {
    clear();
    group("g", {adds_up(algorithm, std::int64_t{1} << 62)}, {{0, 1}, {1, 1}, {2, 1}, {4, 1}, {6, 1}});
    EXPECT_EQ(bytes().at("the NICs of node n2"), INT64_MAX);
  }
}

// Every position hangs from the root by at most log2 n edges, and has at most four neighbours in both trees together.
TEST(DoubleTree, IsBalanced) {
  for (std::int64_t n = 1; n <= 200; ++n) {
    std::vector<int> neighbours(static_cast<std::size_t>(n), 0);
    std::vector<bool> stands(static_cast<std::size_t>(n), false);
    const auto log2_n = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1)));  // rounded up
    for (std::int64_t below = 0; below < n; ++below) {
      int depth = 0;
      for (std::int64_t at = below; at != 0; at = first_tree_parent(at, n)) ASSERT_LE(++depth, log2_n);
      const std::int64_t second = second_tree_position(below, n);
      EXPECT_FALSE(stands[static_cast<std::size_t>(second)]);
      stands[static_cast<std::size_t>(second)] = true;
      if (below == 0) continue;
      const std::int64_t above = first_tree_parent(below, n);
      for (const std::int64_t end : {below, above, second, second_tree_position(above, n)}) ++neighbours[static_cast<std::size_t>(end)];
    }
    for (const int count : neighbours) EXPECT_LE(count, 4) << n;
  }
}

}  // namespace
}  // namespace berth::core::algorithms_test
