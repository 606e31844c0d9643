// Which job gets the next GPU, by hand. b is the longer job: it is next when (p_b' - p_b) / p_b' > (p_a' - p_a) / p_a.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::afs_test {
namespace {

using test::elastic;
using test::fate;
using test::GpuRates;
using test::lasting;
using test::one_node;
using test::runs;

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
  EXPECT_EQ(plan.bound.objective, "flow_time");
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

// a gains 1/2 with one GPU; b, the longer one, 3/4 with three, which is 1/4 with each.
TEST(AfsPolicy, WhatAStepOfTheLongerJobGainsIsDividedByItsGpus) {
  Snapshot s = one_node(5);
  lasting(elastic(s, "a", {{1, 1'000'000}, {2, 1'500'000}}), 100);
  lasting(elastic(s, "b", {{1, 1'000'000}, {4, 4'000'000}}), 1000);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 2");
  EXPECT_EQ(fate(state, plan, "b"), "start 1");
}

// a gains 1 with two GPUs, 1/2 with each; b 1.5 / 2.5.
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

// Gains: 0.4 or, as the longer one, 0.286; 0.5 or 0.333; 0.818 or 0.45. So the first is before the second, the second before the third, and
// the third before the first.
void circle(Snapshot& s, const char* first, const char* second, const char* third) {
  lasting(elastic(s, first, {{1, 1'000'000}, {2, 1'400'000}}), 100);
  lasting(elastic(s, second, {{1, 1'000'000}, {2, 1'500'000}}), 1000);
  lasting(elastic(s, third, {{1, 1'000'000}, {2, 1'818'000}}), 10'000);
  std::sort(s.jobs.begin(), s.jobs.end(), [](const Job& a, const Job& b) { return a.id < b.id; });
}

TEST(AfsPolicy, OfACircleNeighboursByRankMeetFirstAndTheWinnerOfTheLastPairIsNext) {
  for (const auto& [first, second, third] : {std::tuple("a", "b", "c"), std::tuple("b", "c", "a"), std::tuple("c", "a", "b")}) {
    Snapshot s = one_node(4);
    circle(s, first, second, third);
    const ClusterState state(s);

    const Plan plan = plan_of(state);

    EXPECT_EQ(fate(state, plan, "a"), "start 1") << first;
    EXPECT_EQ(fate(state, plan, "b"), "start 1") << first;
    EXPECT_EQ(fate(state, plan, "c"), "start 2") << first;
  }
}

// d, the shortest and most elastic, takes three of the four that are left. a needs four: it would come before b, and c
// before it. If a still took part, c would get the last one.
TEST(AfsPolicy, AJobWhoseNextShapeDoesNotFitBeatsNoOther) {
  Snapshot s = one_node(8);
  circle(s, "a", "b", "c");
  s.jobs[0].shapes[1].id = "5";
  s.jobs[0].shapes[1].gpus = 5;
  s.jobs[0].shapes[1].rate = 2'600'000;
  lasting(elastic(s, "d", {{1, 1'000'000}, {4, 10'000'000}}), 10);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 1");
  EXPECT_EQ(fate(state, plan, "b"), "start 2");
  EXPECT_EQ(fate(state, plan, "c"), "start 1");
  EXPECT_EQ(fate(state, plan, "d"), "start 4");
}

TEST(AfsPolicy, OfMoreJobsThanGpusThoseThatFitBeginAndNoneGrows) {
  Snapshot s = one_node(4);
  lasting(elastic(s, "a", {{3, 3'000'000}, {4, 4'000'000}}), 10);
  lasting(elastic(s, "b", {{2, 2'000'000}}), 100);
  for (const char* id : {"c", "d", "e"}) lasting(elastic(s, id, kLinear), 1000);
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 3");
  EXPECT_EQ(fate(state, plan, "b"), "wait");
  EXPECT_EQ(fate(state, plan, "c"), "start 1");
  EXPECT_EQ(fate(state, plan, "d"), "wait");
  EXPECT_EQ(fate(state, plan, "e"), "wait");
}

TEST(AfsPolicy, WeightsDoNotCount) {
  Snapshot s = one_node(5);
  lasting(elastic(s, "a", kLinear), 100);
  lasting(elastic(s, "b", kLinear), 1000).weight_ppm = 1'000'000'000;
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 3");
  EXPECT_EQ(fate(state, plan, "b"), "start 2");
}

TEST(AfsPolicy, AStepThatMakesNoFasterIsSkipped) {
  Snapshot s = one_node(5);
  lasting(elastic(s, "a", {{1, 1'000'000}, {2, 1'000'000}, {3, 900'000}, {4, 3'000'000}, {5, 3'000'000}}), 100);
  const ClusterState state(s);

  EXPECT_EQ(fate(state, plan_of(state), "a"), "start 4");
}

}  // namespace
// It ran for 5 s since its last report, so continuing elsewhere costs 30 s, and c with 15 s left is the shorter one.
TEST(AfsPolicy, AJobThatLostItsNodePaysForItsRestartHoweverLateTheStateIsUpdated) {
  Snapshot s = one_node(1);
  s.nodes.push_back(s.nodes[0]);
  s.nodes[1].id = "n1";
  runs(lasting(elastic(s, "a", {{1, 1'000'000}}), 10), 1, "n1").costs.restart_us = 30 * kSecond;
  runs(lasting(elastic(s, "c", {{1, 1'000'000}}), 20), 1, "n0").costs.restart_us = 30 * kSecond;
  ClusterState state(s);
  state.apply(std::vector<Delta>{delta::SetTime{s.now_us + 5 * kSecond}, delta::SetNodeState{"n1", NodeState::kFailed}});

  EXPECT_EQ(fate(state, plan_of(state), "c"), "keep 1");
  const ClusterState anew(state.snapshot());
  EXPECT_EQ(fate(anew, plan_of(anew), "c"), "keep 1");
}

}  // namespace berth::afs_test
