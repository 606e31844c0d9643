// The deciding parts of the search benchmark: rules that are not policies, and merged results. Speeds are 1, 1.9, 3.4
// and 5 on 1, 2, 4 and 8 GPUs.

#include <gtest/gtest.h>

#include <string>

#include "bench/plan_search/merge.hpp"
#include "bench/plan_search/rule_plan.hpp"
#include "bench/plan_search/solved.hpp"
#include "bench/plan_search/sruf_fill.hpp"
#include "berth/error.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::plan_search_bench_test {
namespace {

using test::elastic;
using test::fate;
using test::lasting;
using test::one_node;
using test::runs;

Plan plan_by(const ClusterState& state, core::ShapePolicy& rule) {
  const Plan by = test::valid_plan(state, test::asking("price"));
  bench::RulePlanner planner;
  Plan plan;
  planner.decide(state, by, rule, plan);
  EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
  EXPECT_EQ(plan.bound.bound, by.bound.bound);
  return plan;
}

Plan sruf_plan(const ClusterState& state) {
  bench::SrufFill rule;
  return plan_by(state, rule);
}

std::string result(const std::string& row, const std::string& times = "[1,3]", const std::string& date = "monday") {
  return R"({"context":{"date":")" + date + R"("},"benchmarks":[{"name":")" + row + R"("}],"at_ms":)" + times + R"(,"instances":[{"of":")" +
         row + R"("}]})";
}

// Each job gets 1 GPU. Then c, with 10 GPU-seconds left, grows to 4 of the 5 idle GPUs; b and a to 2 each.
TEST(SrufFill, AllBeginSmallAndTheJobWithTheLeastGpuTimeLeftGrowsFirst) {
  Snapshot s = one_node();
  lasting(elastic(s, "a"), 1000);
  lasting(elastic(s, "b"), 100);
  lasting(elastic(s, "c"), 10);
  const ClusterState state(s);

  const Plan plan = sruf_plan(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 2");
  EXPECT_EQ(fate(state, plan, "b"), "start 2");
  EXPECT_EQ(fate(state, plan, "c"), "start 4");
}

TEST(SrufFill, TheJobWithTheMostLeftWaits) {
  Snapshot s = one_node(2);
  lasting(elastic(s, "a"), 1000);
  lasting(elastic(s, "b"), 10);
  lasting(elastic(s, "c"), 100);
  const ClusterState state(s);

  const Plan plan = sruf_plan(state);

  EXPECT_EQ(fate(state, plan, "a"), "wait");
  EXPECT_EQ(fate(state, plan, "b"), "start 1");
  EXPECT_EQ(fate(state, plan, "c"), "start 1");
}

// a has 200 GPU-seconds left and b 100, though a would end sooner.
TEST(SrufFill, GpuTimeCountsAndNotRunTime) {
  Snapshot s = one_node(4);
  lasting(elastic(s, "a", {{4, 1'000'000}}), 50);
  lasting(elastic(s, "b"), 100);
  const ClusterState state(s);

  const Plan plan = sruf_plan(state);

  EXPECT_EQ(fate(state, plan, "a"), "wait");
  EXPECT_EQ(fate(state, plan, "b"), "start 4");
}

TEST(SrufFill, ARunningJobMakesRoomForOneWithLessLeft) {
  Snapshot s = one_node(2);
  runs(lasting(elastic(s, "a"), 1000), 2);
  lasting(elastic(s, "b"), 10);
  const ClusterState state(s);

  const Plan plan = sruf_plan(state);

  EXPECT_EQ(fate(state, plan, "a"), "resize 1");
  EXPECT_EQ(fate(state, plan, "b"), "start 1");
}

// Rows 0 to 3 are a's options, 4 to 7 b's.
TEST(AsSolved, JobsGetTheirRows) {
  Snapshot s = one_node();
  lasting(elastic(s, "a"), 100);
  lasting(elastic(s, "b"), 100);
  const ClusterState state(s);
  const bench::SolvedChoice solved{true, 0, 0, {1, 6}};
  bench::AsSolved rule(solved);

  const Plan plan = plan_by(state, rule);

  EXPECT_EQ(fate(state, plan, "a"), "start 2");
  EXPECT_EQ(fate(state, plan, "b"), "start 4");
}

TEST(AsSolved, JobsWithoutARowGetWhatIsLeft) {
  Snapshot s = one_node();
  lasting(elastic(s, "a"), 100);
  lasting(elastic(s, "b"), 100);
  const ClusterState state(s);
  const bench::SolvedChoice solved{true, 0, 0, {7}};
  bench::AsSolved rule(solved);

  const Plan plan = plan_by(state, rule);

  EXPECT_EQ(fate(state, plan, "a"), "wait");
  EXPECT_EQ(fate(state, plan, "b"), "start 8");
}

TEST(MergedResults, HaveAllRowsAndInstancesAndTheContextOfEach) {
  const std::string text = bench::merged({result("r1"), result("r2", "[1,3]", "tuesday")}, {"one", "two"});

  EXPECT_EQ(text,
            "{\n \"context\": {\"date\":\"monday\"},\n \"benchmarks\": [\n  {\"name\":\"r1\"},\n  {\"name\":\"r2\"}\n ],\n"
            " \"at_ms\": [1,3],\n \"instances\": [\n  {\"of\":\"r1\"},\n  {\"of\":\"r2\"}\n ],\n"
            " \"contexts\": [\n  {\"date\":\"monday\"},\n  {\"date\":\"tuesday\"}\n ]\n}\n");
}

TEST(MergedResults, KeepTheContextsOfWhatWasPutTogetherBefore) {
  const std::string two = bench::merged({result("r1"), result("r2", "[1,3]", "tuesday")}, {"one", "two"});

  const std::string text = bench::merged({two, result("r3", "[1,3]", "sunday")}, {"both", "three"});

  EXPECT_NE(text.find("\"contexts\": [\n  {\"date\":\"monday\"},\n  {\"date\":\"tuesday\"},\n  {\"date\":\"sunday\"}\n ]"),
            std::string::npos)
      << text;
}

TEST(MergedResults, ARowThatTwoHaveIsRefused) { EXPECT_THROW(bench::merged({result("r1"), result("r1")}, {"one", "two"}), InputError); }

TEST(MergedResults, OtherTimesAreRefused) {
  EXPECT_THROW(bench::merged({result("r1"), result("r2", "[1,5]")}, {"one", "two"}), InputError);
}

TEST(MergedResults, WhatHasNoTimesIsRefused) { EXPECT_THROW(bench::merged({R"({"benchmarks":[]})"}, {"one"}), InputError); }

}  // namespace
}  // namespace berth::plan_search_bench_test
