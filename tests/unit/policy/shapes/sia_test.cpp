// Sia's values by hand: 1.1 - round(G^-0.5, 2), with G the speed over the lowest.

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::sia_test {
namespace {

using test::elastic;
using test::fate;
using test::GpuRates;
using test::one_node;
using test::run_on;
using test::runs;

Plan plan_of(const ClusterState& state) { return test::valid_plan(state, test::asking("sia")); }

TEST(SiaPolicy, ANewJobHasItsSmallestShape) {
  Snapshot s = one_node();
  elastic(s, "a");
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 1");
  EXPECT_EQ(plan.bound.objective, "sia");
  EXPECT_EQ(plan.bound.value, 100'000);
  EXPECT_EQ(plan.bound.bound, 100'000);
}

TEST(SiaPolicy, AJobGrowsToTwiceItsGpusAtMost) {
  Snapshot s = one_node();
  runs(elastic(s, "a"), 2);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "resize 4");
  EXPECT_EQ(plan.bound.value, 560'000);  // 3.4^-0.5 = 0.5423
}

TEST(SiaPolicy, AWaitingJobGrowsFromWhatItsRatesWereSeenOn) {
  Snapshot s = one_node();
  elastic(s, "a").progress.observed = {{2, {1'900'000}}, {1, {1'000'000}}};
  const ClusterState state(s);

  EXPECT_EQ(fate(state, plan_of(state), "a"), "start 4");
}

TEST(SiaPolicy, InsideANodeShapesArePowersOfTwoAndBeyondItWholeNodes) {
  Snapshot s = test::two_racks();
  s.gpu_types.resize(1);
  const GpuRates rates{{3, 3'000'000}, {4, 3'500'000}, {6, 5'000'000}, {8, 6'000'000}, {12, 7'000'000}, {16, 8'000'000}};
  Job& job = elastic(s, "a", rates);
  job.progress.observed = {{8, {6'000'000}}};
  const ClusterState state(s);
  EXPECT_EQ(fate(state, plan_of(state), "a"), "start 16");
  job.shapes.pop_back();
  const ClusterState shorter(s);
  EXPECT_EQ(fate(shorter, plan_of(shorter), "a"), "start 8");  // not 12
  s.nodes.resize(1);
  s.nodes[0].gpus = 7;  // a node of seven has 1, 2, 4 and 7
  const ClusterState small(s);
  EXPECT_EQ(fate(small, plan_of(small), "a"), "start 4");
}

TEST(SiaPolicy, AJobThatAsksForNoSuchShapeGetsWhatItAsksFor) {
  Snapshot s = one_node();
  elastic(s, "a", {{3, 3'000'000}, {5, 5'000'000}});
  const ClusterState state(s);
  EXPECT_EQ(fate(state, plan_of(state), "a"), "start 3");
}

TEST(SiaPolicy, AJobMayStayInAShapeThatItWouldNotBeGiven) {
  Snapshot s = one_node(7);
  runs(elastic(s, "a", {{1, 1'000'000}, {2, 2'000'000}, {6, 6'000'000}}), 6);
  const ClusterState state(s);
  EXPECT_EQ(fate(state, plan_of(state), "a"), "keep 6");
}

// Sia's row has every configuration of the cluster: four times the lowest speed is 1.1 - 0.5, even if no job can have
// the lowest now.
TEST(SiaPolicy, TheLeastIsOfAllShapesAlsoOfThoseThatDoNotFitNow) {
  Snapshot s = test::two_types();
  s.jobs.resize(1);
  run_on(s.jobs[0], "n1", {0, 1, 2, 3, 4, 5, 6, 7}).allocation.shape = "h";
  s.jobs[0].preemption.preemptible = false;
  Job& job = elastic(s, "b", {{1, 1'000'000}, {8, 250'000}});
  job.shapes[0].gpu_type = "a100";
  job.shapes[1].gpu_type = "h100";
  job.progress.observed = {{4, {1'000'000}}};
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "b"), "start 1");
  EXPECT_EQ(plan.bound.value, 600'000);
}

// A shape with more GPUs than exist is no configuration.
TEST(SiaPolicy, WhatTheClusterDoesNotHaveIsNotTheLeast) {
  Snapshot s = one_node();
  elastic(s, "a", {{1, 1'000'000}, {9, 250'000}});
  const ClusterState state(s);

  EXPECT_EQ(test::valid_plan(state, test::asking("price", {{"objective", "sia"}})).bound.value, 100'000);
}

// Nor is one that no node could hold: memory of a GPU, a member larger than a node, a label that no node has, a queue's
// cap.
TEST(SiaPolicy, WhatNoNodeCouldHoldIsNotTheLeast) {
  Snapshot s = test::two_types();
  s.jobs.clear();
  Job& job = elastic(s, "a", {{1, 1'000'000}, {2, 250'000}});
  job.shapes[0].gpu_type = "a100";
  job.shapes[1].gpu_type = "h100";
  const auto value = [](const Snapshot& snapshot) {
    return test::valid_plan(ClusterState(snapshot), test::asking("price", {{"objective", "sia"}})).bound;
  };
  ASSERT_EQ(value(s).value, 600'000);

  Snapshot memory = s;
  memory.jobs[0].constraints.gpu_memory_bytes = std::int64_t{80} << 30;
  memory.gpu_types[1].memory_bytes = std::int64_t{40} << 30;
  EXPECT_EQ(value(memory).bound, 100'000);

  Snapshot member = s;
  member.nodes[1].gpus = 1;
  member.nodes.push_back(member.nodes[1]);
  member.nodes[2].id = "n2";
  EXPECT_EQ(value(member).bound, 600'000);  // a member of one GPU on each
  member.jobs[0].shapes[1].groups = {test::group_of("g", 1, 2)};
  EXPECT_EQ(value(member).bound, 100'000);

  Snapshot label = s;
  label.nodes[0].labels = {{"disk", "ssd"}};
  label.jobs[0].constraints.labels = {{"disk", {"ssd"}}};
  EXPECT_EQ(value(label).bound, 100'000);

  Snapshot cap = s;
  Queue queue;
  queue.id = "q";
  queue.quotas.push_back({"h100", 0, 1});
  cap.queues = {queue};
  cap.jobs[0].queue = "q";
  EXPECT_EQ(value(cap).bound, 100'000);
}

// Two jobs of one on 4 GPUs. a at 4 and b waiting is 0.56, both at 2 is 2 x 0.37.
TEST(SiaPolicy, ALongRunningJobIsMovedWhereARestartedOneIsNot) {
  Snapshot s = one_node(4);
  s.now_us = 10'000 * kSecond;
  Job& a = runs(elastic(s, "a"), 4);
  a.costs.restart_us = 30 * kSecond;
  elastic(s, "b").progress.observed = {{1, {1'000'000}}};
  const ClusterState state(s);
  const Plan plan = plan_of(state);
  EXPECT_EQ(fate(state, plan, "a"), "resize 2");
  EXPECT_EQ(fate(state, plan, "b"), "start 2");
  s.jobs[0].progress.restarts = 300;  // 9,000 of its 10,000 s: G on 2 GPUs is 0.19
  const ClusterState restarted(s);
  EXPECT_EQ(fate(restarted, plan_of(restarted), "a"), "keep 4");
}

// 100 s old, two restarts of a minute: any shape has the value 1.1 - 3000.
TEST(SiaPolicy, AJobWhoseLifeWentIntoRestartsIsOutbidThoughGpusAreFree) {
  Snapshot s = one_node();
  Job& a = elastic(s, "a");
  a.costs.restart_us = 60 * kSecond;
  a.progress.run_us = 40 * kSecond;
  a.progress.restarts = 2;
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "wait");
  EXPECT_EQ(plan.decisions[0].reason.code, ReasonCode::kOutbid);
  EXPECT_EQ(plan.decisions[0].reason.best, -2'998'900'000);
  EXPECT_EQ(plan.decisions[0].reason.asked, 0);
}

}  // namespace
}  // namespace berth::sia_test
