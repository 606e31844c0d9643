// What gangs lose outside a domain, by hand: steps of 1 s, NICs and uplinks of racks 10 GB a second, of pods 5.
#include "host/core/network/crossing_loss.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "host/core/state/state_view.hpp"
#include "tests/unit/core/network/network_support.hpp"

namespace berth::core {
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

}  // namespace
}  // namespace berth::core
