// One GPU of a100 and one of h100, unless stated otherwise; sums of completion times by hand.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::allox_test {
namespace {

using test::add_job;
using test::fate;
using test::lasting;
using test::one_node;
using test::run_on;

Snapshot one_of_each() {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  s.nodes[1].gpu_type = "h100";
  s.nodes[0].gpus = s.nodes[1].gpus = 1;
  return s;
}

/// A job of one GPU with this run time on a100 (shape "a"), and this speed on h100 in millionths (shape "h").
Job& on_both(Snapshot& s, const std::string& id, std::int64_t seconds, std::int64_t faster_ppm) {
  Job& job = lasting(add_job(s, id, 1), seconds);
  job.shapes[0].id = "a";
  job.shapes[0].gpu_type = "a100";
  job.shapes[0].rate = 1'000'000;
  job.shapes.push_back(job.shapes[0]);
  job.shapes[1].id = "h";
  job.shapes[1].gpu_type = "h100";
  job.shapes[1].rate = faster_ppm;
  return job;
}

Plan plan_of(const ClusterState& state, std::vector<std::pair<std::string, std::string>> params = {}) {
  return test::valid_plan(state, test::asking("allox", std::move(params)));
}

}  // namespace

// x: 100 or 10 s. y: 12 or 8 s: 10 + 12 = 22 against 8 + (8 + 10) = 26 when both wait for h100.
TEST(AlloxPolicy, AJobThatLosesLittleGoesToTheSlowType) {
  Snapshot s = one_of_each();
  on_both(s, "x", 100, 10'000'000);
  on_both(s, "y", 12, 1'500'000);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "x"), "start h");
  EXPECT_EQ(fate(state, plan, "y"), "start a");
}

// y: 48 or 12 s: 10 + 48 = 58 against 10 + (10 + 12) = 32.
TEST(AlloxPolicy, AJobThatLosesMuchWaitsForTheFastTypeWhileASlowGpuIsFree) {
  Snapshot s = one_of_each();
  on_both(s, "x", 100, 10'000'000);
  on_both(s, "y", 48, 4'000'000);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "x"), "start h");
  EXPECT_EQ(fate(state, plan, "y"), "wait");
  EXPECT_EQ(plan.decisions[1].reason.code, ReasonCode::kNotChosen);
}

// r holds h100 for 1,000 s more, or 30: y takes 48 s on a100, and ends after 42 if it waits for 30.
TEST(AlloxPolicy, WhatRunsStaysAndIsWaitedForOnlyWhereThatPays) {
  for (const std::int64_t left : {1'000, 30}) {
    Snapshot s = one_of_each();
    Job& r = run_on(lasting(add_job(s, "r", 1), left), "n1", {0});
    r.shapes[0].gpu_type = "h100";
    on_both(s, "y", 48, 4'000'000);
    const ClusterState state(s);

    const Plan plan = plan_of(state);

    EXPECT_EQ(fate(state, plan, "r").substr(0, 4), "keep");
    EXPECT_EQ(fate(state, plan, "y"), left == 30 ? "wait" : "start a") << left;
  }
}

TEST(AlloxPolicy, OnOneGpuTheShortestComesFirst) {
  Snapshot s = one_node(1);
  lasting(add_job(s, "a", 1), 100);
  lasting(add_job(s, "b", 1), 10);
  lasting(add_job(s, "c", 1), 50);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(plan.decisions[0].action, Action::kWait);
  EXPECT_EQ(plan.decisions[1].action, Action::kStart);
  EXPECT_EQ(plan.decisions[2].action, Action::kWait);
  // Only the earliest are matched.
  EXPECT_EQ(plan_of(state, {{"window", "1"}}).decisions[0].action, Action::kStart);
}

// 3 of 4 GPUs are free, the fourth in 10 s. Two jobs of 4 and 3 GPUs make one machine of 3. g, 5 s, comes first: 10 +
// 5, and delays h for 5 x 4 / 3 = 6.7 s; h, 100 s, would delay it for 100. g needs the fourth GPU, so no job starts.
TEST(AlloxPolicy, AJobThatFindsTooFewGpusHoldsUpThoseBehindIt) {
  Snapshot s = one_node(4);
  run_on(lasting(add_job(s, "r", 1), 10), "n0", {0});
  lasting(add_job(s, "h", 3), 100);
  lasting(add_job(s, "g", 4), 5);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "g"), "wait");
  EXPECT_EQ(fate(state, plan, "h"), "wait");
  s.jobs.pop_back();
  const ClusterState without(s);
  EXPECT_EQ(fate(without, plan_of(without), "h").substr(0, 5), "start");
}

// Four machines of two GPUs: 4 x 1 + 8 GPUs over 5 jobs. The gang and three others are first there; it has less
// GPU-time, 80 s against 100.
TEST(AlloxPolicy, OfThoseThatBeginAtOnceTheLeastGpuTimeIsFirst) {
  Snapshot s = one_node(8);
  for (const char* id : {"a", "b", "c", "d"}) lasting(add_job(s, id, 1), 100);
  lasting(add_job(s, "gang", 8), 10);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  for (const char* id : {"a", "b", "c", "d"}) EXPECT_EQ(fate(state, plan, id), "wait");
  EXPECT_EQ(fate(state, plan, "gang").substr(0, 5), "start");
}

// It requests one GPU, by its first shape.
TEST(AlloxPolicy, ElasticJobsHaveTheGpusThatTheyAskFor) {
  Snapshot s = one_node(8);
  lasting(test::elastic(s, "a"), 100);
  const ClusterState state(s);

  EXPECT_EQ(fate(state, plan_of(state), "a"), "start 1");
}

TEST(AlloxPolicy, BadWindowsAreRefused) {
  Snapshot s = one_node(1);
  const ClusterState state(s);
  for (const char* bad : {"0", "1025", "x"}) {
    try {
      plan_of(state, {{"window", bad}});
      ADD_FAILURE() << bad;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.what(), "policy 'allox': window='" + std::string(bad) + "': expected an integer from 1 to 1024");
    }
  }
}

}  // namespace berth::allox_test
