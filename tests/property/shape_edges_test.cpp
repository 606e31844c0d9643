// Edge cases for policies that choose shapes: plans are valid and proved, and jobs that can run do.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "tests/support/params.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::shape_edges_test {
namespace {

using test::elastic;
using test::GpuRates;
using test::one_node;

class ShapeEdges : public ::testing::TestWithParam<std::string> {
 protected:
  Plan plan_of(const ClusterState& state, Request request = {}) const {
    request.policy = GetParam();
    request.params = test::short_search(GetParam());
    Plan plan = test::valid_plan(state, request);
    EXPECT_LE(plan.bound.value, plan.bound.bound);
    return plan;
  }
  Plan plan_of(const Snapshot& snapshot) const { return plan_of(ClusterState(snapshot)); }
};

TEST_P(ShapeEdges, NoJobs) { EXPECT_EQ(plan_of(one_node()).bound.bound, 0); }

TEST_P(ShapeEdges, OneShape) {
  Snapshot s = one_node();
  for (const char* id : {"a", "b", "c"}) elastic(s, id, {{4, 1'000'000}});

  EXPECT_EQ(plan_of(s).totals.starts, 2);
}

TEST_P(ShapeEdges, ShapesLargerThanTheCluster) {
  Snapshot s = one_node();
  elastic(s, "a", {{9, 1'000'000}, {64, 2'000'000}});
  elastic(s, "b", {{8, 1'000'000}, {16, 2'000'000}});

  const Plan plan = plan_of(s);

  EXPECT_EQ(plan.totals.starts, 1);
  EXPECT_EQ(plan.totals.rejects, 1);
}

// A job without known rates has the same speed in every shape.
TEST_P(ShapeEdges, UnknownRates) {
  Snapshot s = one_node();
  for (const char* id : {"a", "b", "c"}) elastic(s, id, {{1, 0}, {4, 0}});

  EXPECT_EQ(plan_of(s).totals.starts, 3);
}

TEST_P(ShapeEdges, EqualRates) {
  Snapshot s = one_node();
  for (int i = 0; i < 12; ++i) elastic(s, "j" + std::to_string(10 + i), {{1, 1'000'000}, {2, 1'000'000}, {8, 1'000'000}});

  EXPECT_EQ(plan_of(s).totals.starts, 8);
}

// More GPUs are slower.
TEST_P(ShapeEdges, FallingRates) {
  Snapshot s = one_node();
  for (int i = 0; i < 8; ++i) elastic(s, "j" + std::to_string(i), {{1, 1'000'000}, {2, 900'000}, {8, 100'000}});

  EXPECT_EQ(plan_of(s).totals.starts, 8);
}

// Nothing is gained below 8 GPUs. Gavel's policies and AlloX give the requested GPUs, and ONES gives a new job its smallest shape.
// None of the other policies stops where more GPUs are no faster at first.
// No job waits so that the other gets all GPUs, except where that ends both sooner (`flow_time`), and under Sia's objective:
// 1.1 - 0.1 is more than twice 1.1 - 1.
TEST_P(ShapeEdges, RatesThatRiseAtOnce) {
  const GpuRates rates{{1, 1'000'000}, {2, 1'000'000}, {4, 1'000'001}, {8, 100'000'000}};
  Snapshot s = one_node();
  elastic(s, "a", rates).progress.observed = {{8, {100'000'000}}};
  const ClusterState alone(s);
  const bool smallest = GetParam().rfind("gavel", 0) == 0 || GetParam() == "ones" || GetParam() == "allox";
  EXPECT_EQ(test::fate(alone, plan_of(alone), "a"), smallest ? "start 1" : "start 8");
  elastic(s, "b", rates);
  const bool one_by_one = GetParam() == "sia" || GetParam() == "price" || GetParam() == "ones-plus";
  EXPECT_EQ(plan_of(s).totals.starts, one_by_one ? 1 : 2);
}

// Three jobs of 1 to 8 GPUs, one of which runs.
Snapshot three_jobs(const GpuRates& rates = test::kAmdahl) {
  Snapshot s = one_node();
  test::runs(elastic(s, "a", rates), 2);
  for (const char* id : {"b", "c"}) elastic(s, id, rates);
  return s;
}

// One rate at most is known. Where it is that of 8 GPUs, one job may hold all of them.
TEST_P(ShapeEdges, AProfileOfOnePoint) {
  for (const std::int32_t gpus : {1, 4, 8, 64}) {
    Snapshot s = three_jobs({{1, 0}, {2, 0}, {4, 0}, {8, 0}});
    for (Job& job : s.jobs) {
      job.profile.kind = ProfileKind::kTable;
      job.profile.points.resize(1);
      job.profile.points[0].gpus = gpus;
      job.profile.points[0].rate = 1'000'000;
    }
    EXPECT_GE(plan_of(s).totals.starts, gpus == 8 ? 0 : 1) << gpus;
  }
}

TEST_P(ShapeEdges, NoWorkIsLeft) {
  for (const std::int64_t work : {std::int64_t{1}, kScoreCeiling}) {
    Snapshot s = three_jobs();
    for (Job& job : s.jobs) job.progress.work_total = job.progress.work_done = work;
    EXPECT_EQ(plan_of(s).totals.starts, 2) << work;
    // c may wait for the others, which end at once.
    s.jobs[2].progress.work_done = 0;
    EXPECT_GE(plan_of(s).totals.starts, 1) << work;
  }
}

TEST_P(ShapeEdges, TheLongestEstimate) {
  Snapshot s = three_jobs();
  for (Job& job : s.jobs) job.estimate.run_us = kMaxTimeUs;
  EXPECT_EQ(plan_of(s).totals.starts, 2);
  s.jobs[2].estimate.run_us = 1;
  EXPECT_EQ(plan_of(s).totals.starts, 2);
}

TEST_P(ShapeEdges, ATypeThatNoJobCanUse) {
  Snapshot s = test::two_racks();
  s.nodes[1].gpu_type = s.nodes[2].gpu_type = s.nodes[3].gpu_type = "h100";
  for (const char* id : {"a", "b"}) {
    Job& job = elastic(s, id, {{4, 1'000'000}});
    job.shapes[0].gpu_type = "a100";
  }

  EXPECT_EQ(plan_of(s).totals.starts, 2);
}

TEST_P(ShapeEdges, NoGpuIsFree) {
  Snapshot s = one_node();
  Job& job = elastic(s, "a", {{8, 1'000'000}});
  test::run_on(job, "n0", {0, 1, 2, 3, 4, 5, 6, 7}).preemption.preemptible = false;
  elastic(s, "b");

  const Plan plan = plan_of(s);

  EXPECT_EQ(plan.totals.keeps, 1);
  EXPECT_EQ(plan.totals.waits, 1);
}

// Its running job keeps its GPUs, no other job of the queue starts, and a job without a queue does.
TEST_P(ShapeEdges, AQueueWhoseLimitFellBelowWhatRuns) {
  Snapshot s = one_node();
  s.queues.emplace_back().id = "q";
  s.queues[0].quotas = {{"*", 0, 2, kUnlimited}};
  test::runs(elastic(s, "a", {{4, 1'000'000}}), 4).queue = "q";
  s.jobs[0].preemption.preemptible = false;
  elastic(s, "b", {{1, 1'000'000}}).queue = "q";
  elastic(s, "c", {{3, 1'000'000}});
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(test::fate(state, plan, "a"), "keep 4");
  EXPECT_EQ(plan.totals.waits, 1);
  EXPECT_EQ(test::fate(state, plan, "c"), "start 3");
}

TEST_P(ShapeEdges, ANodeThatFailsUnderItsJob) {
  Snapshot s = test::two_racks();
  test::runs(elastic(s, "a", {{8, 1'000'000}}), 8);
  test::runs(elastic(s, "b", {{8, 1'000'000}}), 8, "n1");
  s.nodes[0].state = NodeState::kFailed;
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(test::fate(state, plan, "a"), "replace 8");
  EXPECT_EQ(test::fate(state, plan, "b"), "keep 8");
}

// However far the decision gets, all jobs can run. Its work as a limit gives the same plan.
TEST_P(ShapeEdges, AMicrosecondOfTime) {
  Snapshot s = one_node();
  for (const char* id : {"a", "b", "c"}) elastic(s, id);
  const ClusterState state(s);
  Request request;
  request.budget_us = 1;

  const Plan plan = plan_of(state, request);

  EXPECT_EQ(plan.totals.starts, 3);
  request.budget_us = 0;
  request.max_iterations = plan.iterations;
  EXPECT_TRUE(same_plan(plan_of(state, request), plan)) << plan.iterations;
}

TEST_P(ShapeEdges, ManyJobsForOneGpu) {
  Snapshot s = one_node(1);
  for (int i = 0; i < 100'000; ++i) elastic(s, "j" + std::to_string(100'000 + i), {{1, 1'000'000 + i % 7}});

  EXPECT_EQ(plan_of(s).totals.starts, 1);
}

INSTANTIATE_TEST_SUITE_P(All, ShapeEdges, ::testing::ValuesIn(test::shape_policy_names()),
                         [](const auto& each) { return test::test_name(each.param); });

}  // namespace
}  // namespace berth::shape_edges_test
