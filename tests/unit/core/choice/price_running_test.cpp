// Choices with jobs that run in a form that cannot be chosen, or that ran on failed GPUs.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "berth/state.hpp"
#include "host/core/validator/plan_value.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::price_running_test {
namespace {

using test::add_job;
using test::elastic;
using test::fate;
using test::one_node;
using test::run_on;
using test::runs;

const Request kThroughput = test::asking("price", {{"objective", "throughput"}});

// Policies that start jobs of 4 GPUs that `price` lets wait.
void expect_bound_to_hold(Snapshot s) {
  for (const char* id : {"x", "y"}) {
    Job& job = test::lasting(add_job(s, id, 4), 100);
    job.shapes[0].rate = 1'000'000;
  }
  const ClusterState state(std::move(s));
  const Plan by = test::valid_plan(state, kThroughput);
  const Plan srsf = test::valid_plan(state, test::asking("srsf"));
  EXPECT_GT(srsf.totals.preempts, 0);
  const std::int64_t value = core::objective_value_by(state.impl(), srsf, by);
  EXPECT_GT(value, by.bound.value);
  EXPECT_LE(value, by.bound.bound);
}

// Its half on the draining node cannot be given to any job, the other half can.
TEST(PriceRunning, TheBoundCountsWhatAJobOnADrainingNodeKeepsFromOthers) {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  s.nodes[1].state = NodeState::kDrain;
  Job& wide = test::lasting(add_job(s, "a", 12), 900'000);
  run_on(wide, "n0", {0, 1, 2, 3});
  wide.allocation.entries.push_back(wide.allocation.entries[0]);
  wide.allocation.entries[1].node = "n1";
  wide.allocation.entries[1].member = 4;
  wide.allocation.entries[1].gpus = {0, 1, 2, 3, 4, 5, 6, 7};
  expect_bound_to_hold(std::move(s));
}

TEST(PriceRunning, TheBoundCountsWhatAGangInAnotherFormKeepsFromOthers) {
  Snapshot s = one_node();
  Job& gang = test::lasting(add_job(s, "a", 8), 900'000);
  gang.shapes[0].groups = {test::group_of("g", 8, 1)};
  gang.shapes[0].groups[0].members_min = 4;
  run_on(gang, "n0", {0, 1, 2, 3, 4, 5});
  expect_bound_to_hold(std::move(s));
}

TEST(PriceRunning, TheBoundCountsWhatSharesKeepFromOthers) {
  Snapshot s = one_node(4);
  s.nodes[0].sharing = true;
  Job& half = test::lasting(add_job(s, "a", 1), 900'000);
  half.sharing = true;
  half.shapes[0].share_ppm = 500'000;
  run_on(half, "n0", {0});
  expect_bound_to_hold(std::move(s));
}

// No rate is known for h100: the cost of leaving a100 gives it no value.
TEST(PriceRunning, AShapeWithoutSpeedIsNeverTaken) {
  Snapshot s = test::two_types();
  s.jobs.clear();
  Job& a = test::lasting(add_job(s, "a", 8), 5'000);
  a.shapes[0].gpu_type = "a100";
  a.shapes.push_back(a.shapes[0]);
  a.shapes[1].id = "h";
  a.shapes[1].gpu_type = "h100";
  a.profile.kind = ProfileKind::kTable;
  a.profile.unit = "steps";
  a.profile.points = {{"a100", 8, 0, "", 1'000'000}};
  a.costs.restart_us = 1'000 * kSecond;
  a.costs.checkpoint_save_us = 500 * kSecond;
  run_on(a, "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  Job& heavy = test::lasting(add_job(s, "b", 8), 5'000);
  heavy.shapes[0].gpu_type = "a100";
  heavy.weight_ppm = 100'000'000;
  const ClusterState state(s);
  for (const char* objective : {"goodput", "throughput", "flow_time", "cost", "finish_time_fairness"}) {
    const Plan plan = test::valid_plan(state, test::asking("price", {{"objective", objective}}));
    EXPECT_EQ(fate(state, plan, "b"), "start s") << objective;
    EXPECT_EQ(fate(state, plan, "a"), "preempt") << objective;
  }
}

// Its value is that of a waiting job with the same progress.
TEST(PriceRunning, AJobThatLostItsGpusWaits) {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  s.gpu_types.resize(1);
  Job& lost = runs(elastic(s, "a", {{8, 7'000'000}, {4, 3'800'000}, {2, 2'000'000}, {1, 1'000'000}}), 8);
  lost.progress.run_us = 900 * kSecond;
  lost.progress.work_total = 100'000'000'000;
  lost.progress.observed = {{8, {7'000'000}}};
  s.nodes[0].state = NodeState::kFailed;
  run_on(test::lasting(add_job(s, "b", 8), 50'000), "n1", {0, 1, 2, 3, 4, 5, 6, 7});
  for (Job& job : s.jobs) {
    job.costs.restart_us = 1'000 * kSecond;
    job.costs.checkpoint_save_us = 500 * kSecond;
  }
  Snapshot waiting = s;
  waiting.jobs[0].state = JobState::kWaiting;
  waiting.jobs[0].allocation = {};
  for (const char* policy : {"price", "sia"}) {
    for (const char* objective : {"flow_time", "throughput", "goodput", "finish_time_fairness"}) {
      const Request request = policy == std::string("sia") ? test::asking("sia") : test::asking(policy, {{"objective", objective}});
      const Plan plan = test::valid_plan(ClusterState(s), request), same = test::valid_plan(ClusterState(waiting), request);
      EXPECT_EQ(plan.bound, same.bound) << policy << ", " << objective;
    }
  }
}

}  // namespace
}  // namespace berth::price_running_test
