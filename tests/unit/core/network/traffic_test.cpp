#include "host/core/network/traffic.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/unit/core/network/network_support.hpp"

namespace berth::core::traffic_test {
namespace {

class TrafficOnRacks : public ::testing::Test {
 protected:
  TrafficOnRacks() : state_(test::two_node_racks(4)), links_(state_), traffic_(state_, links_) {
    job_.id = "a";
    job_.profile = test::second_steps();
    job_.shapes.resize(1);
  }

  // Bytes by name of the link, of a gang with all GPUs of these nodes.
  std::map<std::string, std::int64_t> on(const std::vector<std::int32_t>& nodes) {
    std::vector<PlanEntry> entries;
    for (const std::int32_t node : nodes) {
      PlanEntry entry;
      entry.node = node;
      entry.member = 4 * static_cast<std::int32_t>(entries.size());
      entry.members = 4;
      entry.gpus = 15;
      entries.push_back(entry);
    }
    job_.shapes[0].gpus = 4 * static_cast<std::int32_t>(nodes.size());
    std::map<std::string, std::int64_t> bytes;
    for (const LinkBytes& row : traffic_.of(job_, job_.shapes[0], entries)) {
      EXPECT_TRUE(bytes.emplace(link_name(state_, row.link), row.bytes).second);
    }
    return bytes;
  }

  ClusterState state_;
  NetworkLinks links_;
  Traffic traffic_;
  Job job_;
};

using Bytes = std::map<std::string, std::int64_t>;
constexpr std::int64_t kGB = 1'000'000'000;

TEST_F(TrafficOnRacks, OneNodeUsesNoLink) { EXPECT_EQ(on({1}), Bytes{}); }

TEST_F(TrafficOnRacks, ARingInARackUsesItsNodes) {
  EXPECT_EQ(on({0, 1}), (Bytes{{"the NICs of node n0", 10 * kGB}, {"the NICs of node n1", 10 * kGB}}));
}

TEST_F(TrafficOnRacks, ARingLeavesEachRackOnce) {
  // 2 (4 - 1) / 4 of the gradients.
  const Bytes want{{"the NICs of node n0", 15 * kGB}, {"the NICs of node n1", 15 * kGB},      {"the NICs of node n2", 15 * kGB},
                   {"the NICs of node n3", 15 * kGB}, {"the uplink of rack p0/r0", 15 * kGB}, {"the uplink of rack p0/r1", 15 * kGB}};
  EXPECT_EQ(on({0, 1, 2, 3}), want);
}

TEST_F(TrafficOnRacks, ARingOfTwoPodsLeavesThemToo) {
  const Bytes want{{"the NICs of node n1", 10 * kGB},  {"the NICs of node n6", 10 * kGB},      {"the uplink of pod p0", 10 * kGB},
                   {"the uplink of pod p1", 10 * kGB}, {"the uplink of rack p0/r0", 10 * kGB}, {"the uplink of rack p1/r3", 10 * kGB}};
  EXPECT_EQ(on({1, 6}), want);
}

TEST_F(TrafficOnRacks, NothingIsSentWithoutGradients) {
  job_.profile.gradient_bytes = 0;
  EXPECT_EQ(on({0, 1, 2}), Bytes{});
}

TEST(Traffic, LinksWithoutABandwidthAreLeftOut) {
  Snapshot s = test::two_node_racks(2);
  for (Domain& domain : s.domains) domain.uplink_bytes_per_s = 0;
  s.nodes[1].nics = 0;
  const ClusterState state(s);
  const NetworkLinks links(state);
  EXPECT_FALSE(links.none());
  Traffic traffic(state, links);
  Job job;
  job.profile = test::second_steps();
  job.shapes.resize(1);
  job.shapes[0].gpus = 2;
  std::vector<PlanEntry> entries(2);
  for (std::int32_t n = 0; n < 2; ++n) entries[static_cast<std::size_t>(n)] = {n + 1, 0, n, 1, 1, kWholeGpu, false};
  const std::span<const LinkBytes> rows = traffic.of(job, job.shapes[0], entries);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0], (LinkBytes{links.of_node(2), 10 * kGB}));
}

TEST(Traffic, AClusterWithoutBandwidthsHasNoLinks) {
  Snapshot s = test::two_node_racks(2);
  for (Domain& domain : s.domains) domain.uplink_bytes_per_s = 0;
  for (Node& node : s.nodes) node.nic_bytes_per_s = 0;
  EXPECT_TRUE(NetworkLinks(ClusterState(s)).none());
}

}  // namespace
}  // namespace berth::core::traffic_test
