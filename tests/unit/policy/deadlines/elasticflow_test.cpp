// Minimum satisfactory shares by hand, on one node.

#include <gtest/gtest.h>

#include <string>

#include "tests/support/random.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::elasticflow_test {
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

// What is linear, in every number of GPUs: a job that is accepted next to promised ones still is with another GPU.
TEST(ElasticFlow, AnotherGpuTurnsNoAcceptanceIntoNone) {
  GpuRates every;
  for (std::int32_t gpus = 1; gpus <= 9; ++gpus) every.emplace_back(gpus, gpus * 1'000'000);
  test::Random random(9);
  int accepted = 0, declined = 0;
  for (int world = 0; world < 400; ++world) {
    const std::int32_t gpus = random.within(1, 8);
    Snapshot s = one_node(gpus);
    const auto add = [&](const std::string& id) {
      Job& job = elastic(s, id.c_str(), every);
      lasting(job, random.within(10, 200));
      job.deadline = {s.now_us + random.within(10, 120) * kSecond, false, 1};
    };
    for (std::int32_t j = random.within(0, 6); j > 0; --j) add("p" + std::to_string(j));
    Plan plan;
    const PolicyState promised = kept_of(ClusterState(s), plan);
    add("new");
    const auto accepts = [&](std::int32_t on) {
      Snapshot other = s;
      other.nodes = one_node(on).nodes;
      const PolicyState kept = kept_of(ClusterState(other), plan, promised);
      for (const auto& row : promised.columns.at("promised_end_us")) {
        EXPECT_TRUE(row.second < 0 || kept.columns.at("promised_end_us").at(row.first) == row.second) << world;
      }
      return kept.columns.at("promised_end_us").at("new") >= 0;
    };
    const bool before = accepts(gpus), after = accepts(gpus + 1);
    EXPECT_TRUE(after || !before) << world;
    ++(before ? accepted : declined);
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(declined, 50);
}

// No node of its type is there for a while, so that it has no shape.
TEST(ElasticFlow, APromiseOutlivesADecisionWithoutAShape) {
  Snapshot s = one_node(4);
  due(s, "a", 100, 200);
  Plan plan;
  const PolicyState first = kept_of(ClusterState(s), plan);
  s.nodes[0].state = NodeState::kDrain;
  const PolicyState without = kept_of(ClusterState(s), plan, first);
  EXPECT_EQ(without.columns.at("promised_end_us"), first.columns.at("promised_end_us"));
  EXPECT_EQ(without.columns.at("share_gpus"), first.columns.at("share_gpus"));
  s.nodes[0].state = NodeState::kReady;
  EXPECT_EQ(kept_of(ClusterState(s), plan, without).columns.at("promised_end_us").at("a"), s.now_us + 200 * kSecond);
  // Those of jobs that left go.
  s.jobs.clear();
  EXPECT_TRUE(kept_of(ClusterState(s), plan, without).columns.at("promised_end_us").empty());
}

TEST(ElasticFlow, PromisesNothingToJobsThatWaitForPlaces) {
  Snapshot s = one_node(4);
  due(s, "a", 100, 200);
  due(s, "b", 100, 200).constraints.longest_wait = {{{TopologyKind::kSwitch, "node"}, 10 * kSecond}};
  Plan plan;
  const PolicyState some = kept_of(ClusterState(s), plan);
  EXPECT_EQ(some.columns.at("promised_end_us").at("a"), s.now_us + 200 * kSecond);
  EXPECT_EQ(some.columns.at("promised_end_us").at("b"), -1);
  for (const char* packing : {"consolidate", "contention"}) {
    Engine engine;
    PolicyState kept;
    Request request = test::asking("elasticflow");
    request.params.emplace_back("packing", packing);
    engine.decide(ClusterState(s), kept, request, plan);
    EXPECT_EQ(kept.columns.at("promised_end_us").at("a"), -1) << packing;
  }
}

// The job whose run time grew drops out; those before and after it keep their promises.
TEST(ElasticFlow, ALateJobLosesItsPromiseAlone) {
  Snapshot s = one_node(4);
  due(s, "a", 100, 50);
  due(s, "b", 100, 100);
  due(s, "c", 100, 150);
  Plan plan;
  const PolicyState first = kept_of(ClusterState(s), plan);
  lasting(s.jobs[1], 1'000);
  const PolicyState later = kept_of(ClusterState(s), plan, first);
  EXPECT_EQ(later.columns.at("promised_end_us").at("b"), -2);
  EXPECT_GE(later.columns.at("promised_end_us").at("a"), 0);
  EXPECT_GE(later.columns.at("promised_end_us").at("c"), 0);
}

TEST(ElasticFlow, ADeadlineThatWasMadeShorterBreaksThePromise) {
  Snapshot s = one_node(4);
  due(s, "a", 100, 200);
  Plan plan;
  const PolicyState kept = kept_of(ClusterState(s), plan);
  s.jobs[0].deadline.at_us = s.now_us + 10 * kSecond;

  EXPECT_EQ(kept_of(ClusterState(s), plan, kept).columns.at("promised_end_us").at("a"), -2);
}

// b could have all 4 GPUs from 25 s on only: that is enough for its second step.
TEST(ElasticFlow, WithoutAShareForAStepTheNextOneIsPromised) {
  Snapshot s = one_node(4);
  due(s, "a", 100, 25);
  Job& b = due(s, "b", 100, 49);
  b.deadline.value = 9;
  b.deadline.later = {{s.now_us + 60 * kSecond, 5}, {s.now_us + 900 * kSecond, 1}};
  const ClusterState state(s);
  Plan plan;
  const PolicyState kept = kept_of(state, plan);
  EXPECT_EQ(kept.columns.at("promised_end_us").at("b"), s.now_us + 60 * kSecond);
  EXPECT_EQ(kept_of(state, plan, kept).columns.at("promised_end_us").at("b"), s.now_us + 60 * kSecond);
}

}  // namespace berth::elasticflow_test
