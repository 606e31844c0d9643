// Minimum satisfactory shares by hand, on one node.

#include <gtest/gtest.h>

#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth {
namespace {

using test::elastic;
using test::fate;
using test::GpuRates;
using test::lasting;
using test::one_node;

const GpuRates kLinear{{1, 1'000'000}, {2, 2'000'000}, {4, 4'000'000}};

// Seconds of work of one GPU, due so long from now.
Job& due(Snapshot& s, const char* id, TimeUs work_s, TimeUs in_s) {
  Job& job = elastic(s, id, kLinear);
  lasting(job, work_s);
  job.deadline = {s.now_us + in_s * kSecond, false, 1};
  return job;
}

PolicyState kept_of(const ClusterState& state, Plan& plan, PolicyState kept = {}) {
  Engine engine;
  engine.decide(state, kept, test::asking("elasticflow"), plan);
  EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
  return kept;
}

}  // namespace

// a needs 2 GPUs for its deadline, b one. The fourth GPU adds no GPU-time to either, as speeds are linear.
TEST(ElasticFlow, SharesAreTheFewestGpusThatMeetDeadlines) {
  Snapshot s = one_node(4);
  due(s, "a", 100, 50);
  due(s, "b", 100, 100);
  const ClusterState state(s);
  Plan plan;
  const PolicyState kept = kept_of(state, plan);

  EXPECT_EQ(kept.columns.at("share_gpus").at("a"), 2);
  EXPECT_EQ(kept.columns.at("share_gpus").at("b"), 1);
  EXPECT_EQ(fate(state, plan, "a"), "start 2");
  EXPECT_EQ(fate(state, plan, "b"), "start 2");
}

// b could have all 4 GPUs from 25 s on only.
TEST(ElasticFlow, WhatDoesNotFitGetsNoPromise) {
  Snapshot s = one_node(4);
  due(s, "a", 100, 25);
  due(s, "b", 100, 49);
  due(s, "c", 100, 50);
  const ClusterState state(s);
  Plan plan;
  const PolicyState kept = kept_of(state, plan);

  EXPECT_EQ(kept.columns.at("promised_end_us").at("a"), s.now_us + 25 * kSecond);
  EXPECT_EQ(kept.columns.at("promised_end_us").at("b"), -1);
  EXPECT_EQ(kept.columns.at("promised_end_us").at("c"), s.now_us + 50 * kSecond);
  EXPECT_EQ(fate(state, plan, "a"), "start 4");
}

// What is linear: another GPU never turns a promise into none.
TEST(ElasticFlow, AnotherGpuTakesNoPromiseAway) {
  std::int64_t before = 0;
  for (std::int32_t gpus = 1; gpus <= 8; ++gpus) {
    Snapshot s = one_node(gpus);
    for (int j = 0; j < 6; ++j) due(s, ("j" + std::to_string(j)).c_str(), 40 + 13 * j, 60 + 7 * j);
    const ClusterState state(s);
    Plan plan;
    const PolicyState kept = kept_of(state, plan);
    std::int64_t promised = 0;
    for (const auto& row : kept.columns.at("promised_end_us")) promised += row.second >= 0 ? 1 : 0;
    EXPECT_GE(promised, before) << gpus;
    before = promised;
  }
  EXPECT_GT(before, 3);
}

TEST(ElasticFlow, ADeadlineThatWasMadeShorterBreaksThePromise) {
  Snapshot s = one_node(4);
  due(s, "a", 100, 200);
  Plan plan;
  const PolicyState kept = kept_of(ClusterState(s), plan);
  s.jobs[0].deadline.at_us = s.now_us + 10 * kSecond;

  EXPECT_EQ(kept_of(ClusterState(s), plan, kept).columns.at("promised_end_us").at("a"), -2);
}

}  // namespace berth
