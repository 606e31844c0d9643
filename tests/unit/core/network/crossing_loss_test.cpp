// What gangs lose outside a domain, by hand: steps of 1 s, NICs and uplinks of racks 10 GB a second, of pods 5.
#include "host/core/network/crossing_loss.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "host/core/state/state_view.hpp"
#include "tests/unit/core/network/network_support.hpp"

namespace berth::core::crossing_loss_test {
namespace {

constexpr std::int64_t kGB = 1'000'000'000;

Job gang(std::int32_t gpus) {
  Job job;
  job.id = "a";
  job.profile = test::second_steps();
  job.shapes.resize(1);
  job.shapes[0].id = "s";
  job.shapes[0].gpus = gpus;
  return job;
}

// Each of the GPUs sends 10 GB to all of them.
Job all_to_all(std::int32_t gpus) {
  Job job = gang(gpus);
  job.profile.gradient_bytes = 0;
  Group group;
  group.name = "experts";
  group.members_min = group.members_want = group.members_max = gpus;
  group.communication = {{CommKind::kEp, "", 10 * kGB}};
  job.shapes[0].groups = {group};
  return job;
}

Crossing crossing(const Job& job, Snapshot s = test::two_node_racks(4)) {
  s.jobs = {job};
  const ClusterState state(s);
  CrossingLoss losses;
  losses.begin(impl_of(state));
  return losses.of(impl_of(state), 0, 0);
}

// The all-reduce takes 1 s in a rack. Between racks each uplink has 4 of 8 GPUs of the gang, so it takes 2 s.
TEST(CrossingLossTest, ARingOfTwoNodes) {
  const Crossing found = crossing(gang(8));
  EXPECT_EQ(found.level, 1);
  EXPECT_NEAR(static_cast<double>(found.loss_ppm), 500'000, 20);
}

// 20 GB leave a node: 2 s. Between racks an uplink carries 20 GB for half of its GPUs: 4 s. Steps of 3 and 5 s, and a hop of 15 us
// in a rack and 17 us between racks: 2.000002 / 3.000015.
TEST(CrossingLossTest, AnAllToAllOfTwoNodes) { EXPECT_EQ(crossing(all_to_all(8)), (Crossing{1, 666'664})); }

// Half of the communication is hidden: steps of 2 and 3 s.
TEST(CrossingLossTest, HiddenCommunicationIsNoLoss) {
  Job job = all_to_all(8);
  job.profile.closed_form.overlap_ppm = 500'000;
  EXPECT_EQ(crossing(job), (Crossing{1, 499'998}));  // 1.000001 / 2.0000075
  job.profile.closed_form.overlap_ppm = 1'000'000;
  EXPECT_EQ(crossing(job), Crossing{});
}

// On a node the gang needs no link. On two nodes it has half of each, and of their NICs: 10 GB take 2 s.
TEST(CrossingLossTest, AGangThatFitsOnANode) {
  const Crossing found = crossing(gang(4));
  EXPECT_EQ(found.level, 0);
  EXPECT_NEAR(static_cast<double>(found.loss_ppm), 2'000'000, 100);
}

// 15 GB take 1.5 s in a pod. From pod to pod they take 3 s, for half of the GPUs behind the uplink: 6 s.
TEST(CrossingLossTest, AGangThatNeedsAPod) {
  const Crossing found = crossing(gang(16));
  EXPECT_EQ(found.level, 2);
  EXPECT_NEAR(static_cast<double>(found.loss_ppm), 1'800'000, 100);
}

TEST(CrossingLossTest, AGangThatNeedsTheClusterLosesNothing) { EXPECT_EQ(crossing(gang(32)), Crossing{}); }

TEST(CrossingLossTest, WithoutTrafficNothingIsLost) {
  Job job = gang(8);
  job.profile.gradient_bytes = 0;
  EXPECT_EQ(crossing(job), Crossing{});
  job = gang(8);
  job.profile.kind = ProfileKind::kOpaque;
  EXPECT_EQ(crossing(job), Crossing{});
}

TEST(CrossingLossTest, WithoutBandwidthsNothingIsLost) {
  Snapshot s = test::two_node_racks(4);
  for (Domain& domain : s.domains) domain.uplink_bytes_per_s = 0;
  for (Node& node : s.nodes) node.nic_bytes_per_s = 0;
  EXPECT_EQ(crossing(gang(8), s), Crossing{});
}

// A gang that must stay in a rack has nothing to lose outside it, and still one on two nodes in place of one.
TEST(CrossingLossTest, ARequiredLevelBoundsTheSearch) {
  Job job = all_to_all(8);
  job.shapes[0].groups[0].require = LevelRef{TopologyKind::kSwitch, "rack"};
  EXPECT_EQ(crossing(job), Crossing{});
  job = all_to_all(4);
  job.shapes[0].groups[0].require = LevelRef{TopologyKind::kSwitch, "rack"};
  EXPECT_EQ(crossing(job).level, 0);
}

TEST(CrossingLossTest, OneRackHasNoOther) {
  Snapshot s = test::two_node_racks(1);
  EXPECT_EQ(crossing(gang(8), s), Crossing{});
}

// The same state: another description of the job has another answer.
TEST(CrossingLossTest, AnswersFollowDescriptions) {
  Snapshot s = test::two_node_racks(4);
  s.jobs = {gang(8)};
  ClusterState state(s);
  CrossingLoss losses;
  losses.begin(impl_of(state));
  EXPECT_EQ(losses.of(impl_of(state), 0, 0).level, 1);
  s.jobs = {gang(16)};
  state = ClusterState(s);
  losses.begin(impl_of(state));
  EXPECT_EQ(losses.of(impl_of(state), 0, 0).level, 2);
}

Group group(const std::string& name, const std::string& parent, std::int32_t members, std::int32_t gpus) {
  Group one;
  one.name = name;
  one.parent = parent;
  one.members_min = one.members_want = one.members_max = members;
  one.gpus_per_member = gpus;
  return one;
}

// Two stages of N nodes. A node sends 10 GB to that of the other stage, and gets as much back.
Job two_stages(std::int32_t nodes) {
  Job job = gang(8 * nodes);
  job.profile.gradient_bytes = 0;
  job.shapes[0].groups = {group("job", "", 0, 1), group("a", "job", nodes, 4), group("b", "job", nodes, 4)};
  job.shapes[0].groups[1].communication = {{CommKind::kPp, "b", 10 * kGB}};
  return job;
}

const LevelRef kRack{TopologyKind::kSwitch, "rack"}, kPod{TopologyKind::kSwitch, "pod"};

// 10 GB leave a node: 1 s. Between racks an uplink carries them for half of its GPUs: 2 s. Steps of 2 and 3 s.
// Two hops: of 15 us in a rack, and of 17 us between racks. 1.000004 / 2.00003.
TEST(CrossingLossTest, APipelineOfTwoNodes) { EXPECT_EQ(crossing(two_stages(1)), (Crossing{1, 499'994})); }

// The root says where both are, so that it makes no difference.
TEST(CrossingLossTest, RootsOfAForest) {
  Job job = two_stages(1);
  job.shapes[0].groups.erase(job.shapes[0].groups.begin());
  for (Group& root : job.shapes[0].groups) root.parent.clear();
  EXPECT_EQ(crossing(job), (Crossing{1, 499'994}));
}

// Each stage fills a rack, in which nodes send 10 GB around a ring. With that a node sends 20 GB: 2 s. So does a rack, for both
// nodes. The halves are the stages, as they come: from pod to pod 20 GB take 4 s, for half of the GPUs 8 s. Steps of 3 and 9 s. A
// node waits for two hops of its ring (15 us each), and two between stages (17 us, and 19 us between pods): 6.000004 / 3.000064.
TEST(CrossingLossTest, StagesStayWholeWhereTheyCan) {
  Job job = two_stages(2);
  for (std::size_t g = 1; g < 3; ++g) job.shapes[0].groups[g].communication.push_back({CommKind::kDp, "", 10 * kGB});
  EXPECT_EQ(crossing(job), (Crossing{2, 1'999'958}));
}

// 15 GB around a ring of four nodes, as AGangThatNeedsAPod. What is sent inside segments of a rack crosses nothing.
// Six hops of 17 us, and of 19 us between pods: 4.500012 / 2.500102.
TEST(CrossingLossTest, SegmentsOfARack) {
  Job job = gang(16);
  job.profile.gradient_bytes = 0;
  job.shapes[0].groups = {group("all", "", 4, 4)};
  job.shapes[0].groups[0].segment = Segment{2, kRack};
  job.shapes[0].groups[0].communication = {{CommKind::kDp, "", 10 * kGB}};
  EXPECT_EQ(crossing(job), (Crossing{2, 1'799'931}));
  job.shapes[0].groups[0].communication[0].kind = CommKind::kEp;
  EXPECT_EQ(crossing(job), Crossing{});
}

// One segment is nowhere else than in a rack.
TEST(CrossingLossTest, ASegmentIsNotDivided) {
  Job job = gang(8);
  job.profile.gradient_bytes = 0;
  job.shapes[0].groups = {group("all", "", 2, 4)};
  job.shapes[0].groups[0].communication = {{CommKind::kDp, "", 10 * kGB}};
  EXPECT_EQ(crossing(job), (Crossing{1, 499'994}));
  job.shapes[0].groups[0].segment = Segment{2, kRack};
  EXPECT_EQ(crossing(job), Crossing{});
}

// No rack may have both, so it is about pods. Between racks 10 GB take 2 s, for half of the GPUs of each. Between pods they take
// 2 s for a quarter of them: 8 s. Steps of 3 and 9 s, and two hops of 17 and 19 us: 6.000004 / 3.000034.
TEST(CrossingLossTest, ASpreadOverRacks) {
  Job job = gang(8);
  job.profile.gradient_bytes = 0;
  job.shapes[0].groups = {group("all", "", 2, 4)};
  job.shapes[0].groups[0].communication = {{CommKind::kDp, "", 10 * kGB}};
  job.shapes[0].groups[0].spread = Spread{kRack, 1};
  EXPECT_EQ(crossing(job), (Crossing{2, 1'999'978}));
}

// Each stage must be in a rack, so the halves are whole stages: from rack to rack 20 GB take 2 s, from pod to pod 8 s.
TEST(CrossingLossTest, GroupsStayWhereTheyMustBe) {
  Job job = two_stages(2);
  for (std::size_t g = 1; g < 3; ++g) job.shapes[0].groups[g].require = kRack;
  EXPECT_EQ(crossing(job), (Crossing{2, 1'999'978}));
  // Two nodes are never on one.
  for (std::size_t g = 1; g < 3; ++g) job.shapes[0].groups[g].require = LevelRef{TopologyKind::kSwitch, "node"};
  EXPECT_EQ(crossing(job), Crossing{});
}

TEST(CrossingLossTest, WhatTheRootRequiresBoundsTheSearch) {
  Job job = two_stages(1);
  job.shapes[0].groups[0].require = kPod;
  EXPECT_EQ(crossing(job), (Crossing{1, 499'994}));
  job.shapes[0].groups[0].require = kRack;
  EXPECT_EQ(crossing(job), Crossing{});
  // Only r2 has two nodes, and its pod has no other rack.
  Snapshot s = test::two_node_racks(3);
  s.nodes.erase(s.nodes.begin() + 3);
  s.nodes.erase(s.nodes.begin() + 1);
  EXPECT_EQ(crossing(two_stages(1), s).level, 1);
  job.shapes[0].groups[0].require = kPod;
  EXPECT_EQ(crossing(job, s), Crossing{});
}

// Racks outside pods do not have what the gang requires.
TEST(CrossingLossTest, ARackInNoPodIsLeftAlone) {
  Snapshot s = test::two_node_racks(4);
  Domain lone;
  lone.id = "lone";
  lone.level = "rack";
  s.domains.push_back(lone);
  Job job = two_stages(1);
  job.shapes[0].groups[0].require = kPod;
  EXPECT_EQ(crossing(job, s).level, 1);
  s.nodes[7].domain[0] = "lone";
  EXPECT_EQ(crossing(job, s), Crossing{});
}

TEST(CrossingLossTest, AnotherTopologyIsLeftAlone) {
  Snapshot s = test::two_node_racks(4);
  Domain rail;
  rail.topology = TopologyKind::kPower;
  rail.id = "rail";
  rail.level = "rail";
  s.domains.push_back(rail);
  for (Node& node : s.nodes) node.domain[static_cast<std::size_t>(TopologyKind::kPower)] = "rail";
  Job job = two_stages(1);
  EXPECT_EQ(crossing(job, s).level, 1);
  job.shapes[0].groups[0].require = LevelRef{TopologyKind::kPower, "rail"};
  EXPECT_EQ(crossing(job, s), Crossing{});
}

TEST(CrossingLossTest, SharesOfGpusAreLeftAlone) {
  Job job = two_stages(1);
  job.sharing = true;
  auto& groups = job.shapes[0].groups;
  groups.insert(groups.begin() + 1, group("c", "job", 1, 1));
  job.shapes[0].gpus = 9;
  Snapshot s = test::two_node_racks(4);
  for (Node& node : s.nodes) node.sharing = true;
  EXPECT_EQ(crossing(job, s).level, 2);
  groups[1].share_ppm = kWholeGpu / 2;
  EXPECT_EQ(crossing(job, s), Crossing{});
}

}  // namespace
}  // namespace berth::core::crossing_loss_test
