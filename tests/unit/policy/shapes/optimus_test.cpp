// Remaining time by hand: with speeds 1, 1.9, 3.4 and 5, 1000 s of work last 1000, 526.3, 294.1 and 200 s.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::optimus_test {
namespace {

using test::elastic;
using test::fate;
using test::lasting;
using test::one_node;
using test::runs;

Plan plan_of(const ClusterState& state, std::vector<std::pair<std::string, std::string>> params = {}) {
  return test::valid_plan(state, test::asking("optimus", std::move(params)));
}

// From one GPU each: a to 2 saves 473.7 s, to 4 another 232.2 s with 2 GPUs; b to 2 saves 47.4 s; then one GPU is left, which saves c 4.7
// s.
TEST(OptimusPolicy, TheStepThatSavesMostForEachGpuComesFirst) {
  Snapshot s = one_node();
  lasting(elastic(s, "a"), 1000);
  lasting(elastic(s, "b"), 100);
  lasting(elastic(s, "c"), 10);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 4");
  EXPECT_EQ(fate(state, plan, "b"), "start 2");
  EXPECT_EQ(fate(state, plan, "c"), "start 2");
}

TEST(OptimusPolicy, OfEqualStepsTheEarlierJobHasTheFirst) {
  Snapshot s = one_node();
  for (const char* id : {"a", "b", "c"}) lasting(elastic(s, id), 100);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 4");
  EXPECT_EQ(fate(state, plan, "b"), "start 2");
  EXPECT_EQ(fate(state, plan, "c"), "start 2");
}

// a to 3 GPUs saves 20 s with 2, b to 2 GPUs saves 10 s with 1; then one GPU is left, too few for a.
TEST(OptimusPolicy, OfEqualSavingsForEachGpuTheSmallerStepComesFirst) {
  Snapshot s = one_node(4);
  lasting(elastic(s, "a", {{1, 1'000'000}, {3, 1'250'000}}), 100);
  lasting(elastic(s, "b", {{1, 1'000'000}, {2, 2'000'000}}), 20);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 1");
  EXPECT_EQ(fate(state, plan, "b"), "start 2");
}

TEST(OptimusPolicy, AShapeThatDoesNotPayIsNoBarrier) {
  Snapshot s = one_node(4);
  lasting(elastic(s, "a", {{1, 1'000'000}, {2, 900'000}, {4, 3'400'000}}), 100);
  const ClusterState state(s);

  EXPECT_EQ(fate(state, plan_of(state), "a"), "start 4");
}

TEST(OptimusPolicy, AStepThatSavesNothingIsNotMade) {
  Snapshot s = one_node();
  lasting(elastic(s, "a", {{1, 1'000'000}, {2, 1'000'000}, {4, 500'000}}), 100);
  const ClusterState state(s);

  EXPECT_EQ(fate(state, plan_of(state), "a"), "start 1");
}

// 1000 s on one GPU. With ten minutes for the change 4 GPUs end after 894 s, with a quarter of an hour after 1194 s.
TEST(OptimusPolicy, WhatAChangeCostsIsPartOfTheTimeLeft) {
  Snapshot s = one_node(4);
  Job& a = lasting(runs(elastic(s, "a"), 1), 1000);
  a.costs.scale_us = 600 * kSecond;
  const ClusterState quick(s);
  EXPECT_EQ(fate(quick, plan_of(quick), "a"), "resize 4");
  s.jobs[0].costs.scale_us = 900 * kSecond;
  const ClusterState slow(s);
  EXPECT_EQ(fate(slow, plan_of(slow), "a"), "keep 1");
}

TEST(OptimusPolicy, AJobThatFindsNoFreeGpuHasThatReason) {
  Snapshot s = one_node(1);
  lasting(elastic(s, "a"), 1000);
  lasting(elastic(s, "b"), 10);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 1");
  EXPECT_EQ(fate(state, plan, "b"), "wait");
  EXPECT_EQ(plan.decisions[1].reason.code, ReasonCode::kInsufficientGpus);
  EXPECT_EQ(plan.bound.objective, "flow_time");
  // The job with more work left delays itself, and counts an eighth of the other.
  EXPECT_EQ(plan.bound.value, 1'125'000);
  EXPECT_GE(plan.bound.bound, plan.bound.value);
}

TEST(OptimusPolicy, ARunningJobStaysOnItsGpuType) {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  s.nodes[1].gpu_type = "h100";
  s.nodes[0].gpus = s.nodes[1].gpus = 2;
  for (const char* id : {"a", "b"}) {
    Job& job = lasting(elastic(s, id, {{1, 1'000'000}, {2, 1'900'000}}), 100);
    for (std::size_t i = 0; i < 2; ++i) {
      job.shapes[i].gpu_type = "a100";
      Shape faster = job.shapes[i];
      faster.id += " h100";
      faster.gpu_type = "h100";
      faster.rate *= 2;
      job.shapes.push_back(faster);
    }
  }
  runs(s.jobs[0], 1);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "resize 2");
  EXPECT_EQ(fate(state, plan, "b"), "start 2 h100");
}

// Restarting takes two hours, and a choice stands for one: no shape has a value, and the job still gets GPUs.
TEST(OptimusPolicy, AJobThatFindsNoPlaceTriesItsOtherShapesWhateverTheirValue) {
  Snapshot s = one_node(14);
  Job& a = lasting(elastic(s, "a"), 100'000);
  a.costs.restart_us = 7200 * kSecond;
  a.progress.run_us = kSecond;
  const ClusterState state(test::with_two_left_of_a_cap(s));

  const Plan plan = plan_of(state, {{"objective", "throughput"}});

  EXPECT_EQ(fate(state, plan, "a"), "start 1");
  EXPECT_EQ(plan.bound.value, 0);
}

TEST(OptimusPolicy, TheObjectiveIsWhatTheBoundIsOf) {
  Snapshot s = one_node();
  lasting(elastic(s, "a"), 100);
  const ClusterState state(s);

  const Plan plan = plan_of(state, {{"objective", "throughput"}});

  EXPECT_EQ(fate(state, plan, "a"), "start 8");
  EXPECT_EQ(plan.bound.objective, "throughput");
  EXPECT_EQ(plan.bound.bound, 5'000'000);
}

// 2 GPUs of a100 are twelve times as fast as 1 of h100, and both are its smallest shapes.
class SmallestShape : public ::testing::TestWithParam<std::string> {};
TEST_P(SmallestShape, OfAWaitingJobIsOfTheTypeWhereItIsFastest) {
  Snapshot s = test::two_types();
  s.jobs.resize(1);
  s.jobs[0].shapes[0].gpus = 2;
  s.jobs[0].shapes[0].rate = 18'000'000;
  s.jobs[0].shapes[1].gpus = 1;
  s.jobs[0].shapes[1].rate = 1'500'000;
  const ClusterState state(s);
  EXPECT_EQ(test::fate(state, test::valid_plan(state, test::asking(GetParam())), "a"), "start " + s.jobs[0].shapes[0].id);
}
INSTANTIATE_TEST_SUITE_P(Stepwise, SmallestShape, ::testing::Values("afs", "optimus"));

}  // namespace
}  // namespace berth::optimus_test
