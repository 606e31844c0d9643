// Who gets the next GPU, by hand. b is the longer job: it is b's turn when (p_b' - p_b) / p_b' > (p_a' - p_a) / p_a.

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/shape_policy_support.hpp"

namespace berth {
namespace {

using test::elastic;
using test::fate;
using test::GpuRates;
using test::lasting;
using test::one_node;

const GpuRates kLinear{{1, 1'000'000}, {2, 2'000'000}, {3, 3'000'000}, {4, 4'000'000}, {5, 5'000'000}};

Plan plan_of(const ClusterState& state) { return test::valid_plan(state, test::asking("afs")); }

// 1 against 1/2 and 1/2 against 1/2 for a, the shorter one; then 1/3 against 1/2 for b.
TEST(AfsPolicy, OfEquallyElasticJobsTheShorterHasMore) {
  Snapshot s = one_node(5);
  lasting(elastic(s, "a", kLinear), 100);
  lasting(elastic(s, "b", kLinear), 1000);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 3");
  EXPECT_EQ(fate(state, plan, "b"), "start 2");
  EXPECT_EQ(plan.bound.objective, "jct");
}

TEST(AfsPolicy, WhichIsShorterIsNotAMatterOfRank) {
  Snapshot s = one_node(5);
  lasting(elastic(s, "a", kLinear), 1000);
  lasting(elastic(s, "b", kLinear), 100);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 2");
  EXPECT_EQ(fate(state, plan, "b"), "start 3");
}

// (1.3 - 1) / 1 for the shorter one, 1/2 for the longer one.
TEST(AfsPolicy, AnElasticJobComesBeforeAShorterOneThatGainsLittle) {
  Snapshot s = one_node(3);
  lasting(elastic(s, "a", {{1, 1'000'000}, {2, 1'300'000}}), 100);
  lasting(elastic(s, "b", kLinear), 1000);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 1");
  EXPECT_EQ(fate(state, plan, "b"), "start 2");
}

// a gains 1/2 by one GPU; b, the longer one, 3/4 by three, which is 1/4 by each.
TEST(AfsPolicy, WhatAStepOfTheLongerJobGainsIsDividedByItsGpus) {
  Snapshot s = one_node(5);
  lasting(elastic(s, "a", {{1, 1'000'000}, {2, 1'500'000}}), 100);
  lasting(elastic(s, "b", {{1, 1'000'000}, {4, 4'000'000}}), 1000);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 2");
  EXPECT_EQ(fate(state, plan, "b"), "start 1");
}

// a gains 1 by two GPUs, 1/2 by each; b 1.5 / 2.5.
TEST(AfsPolicy, WhatAStepOfTheShorterJobGainsIsDividedByItsGpus) {
  Snapshot s = one_node(4);
  lasting(elastic(s, "a", {{1, 1'000'000}, {3, 2'000'000}}), 100);
  lasting(elastic(s, "b", {{1, 1'000'000}, {2, 2'500'000}}), 1000);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 1");
  EXPECT_EQ(fate(state, plan, "b"), "start 2");
}

TEST(AfsPolicy, JobsWithoutGpusComeFirstTheShortestOfThemFirst) {
  Snapshot s = one_node(2);
  lasting(elastic(s, "a", kLinear), 1000);
  lasting(elastic(s, "b", kLinear), 100);
  lasting(elastic(s, "c", kLinear), 10);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "wait");
  EXPECT_EQ(plan.decisions[0].reason.code, ReasonCode::kInsufficientGpus);
  EXPECT_EQ(fate(state, plan, "b"), "start 1");
  EXPECT_EQ(fate(state, plan, "c"), "start 1");
}

TEST(AfsPolicy, OfEqualJobsTheEarlierIsTheShorter) {
  Snapshot s = one_node(4);
  for (const char* id : {"a", "b", "c"}) lasting(elastic(s, id, kLinear), 100);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 2");
  EXPECT_EQ(fate(state, plan, "b"), "start 1");
  EXPECT_EQ(fate(state, plan, "c"), "start 1");
}

TEST(AfsPolicy, AStepThatMakesNoFasterIsSkipped) {
  Snapshot s = one_node(5);
  lasting(elastic(s, "a", {{1, 1'000'000}, {2, 1'000'000}, {3, 900'000}, {4, 3'000'000}, {5, 3'000'000}}), 100);
  const ClusterState state(s);

  EXPECT_EQ(fate(state, plan_of(state), "a"), "start 4");
}

}  // namespace
}  // namespace berth
