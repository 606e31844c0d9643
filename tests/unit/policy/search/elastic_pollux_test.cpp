// Plans of elastic-pollux: speeds 1, 1.9, 3.4 and 5 on 1, 2, 4 and 8 GPUs.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::elastic_pollux_test {
namespace {

using test::elastic;
using test::fate;
using test::one_node;
using test::run_on;
using test::runs;

Plan plan_of(const ClusterState& state, std::vector<std::pair<std::string, std::string>> params = {{"generations", "20"}}) {
  return test::valid_plan(state, test::asking("elastic-pollux", std::move(params)));
}

TEST(ElasticPollux, ANewJobHasOneGpuAndOneThatWasSeenTwiceAsMany) {
  Snapshot s = one_node();
  elastic(s, "a");
  elastic(s, "b").progress.observed = {{2, {1'900'000}}, {1, {1'000'000}}};
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 1");
  EXPECT_EQ(fate(state, plan, "b"), "start 4");
}

TEST(ElasticPollux, AJobThatAsksForMoreHasItsSmallestShape) {
  Snapshot s = one_node();
  elastic(s, "a", {{4, 4'000'000}, {8, 7'000'000}});
  const ClusterState state(s);

  EXPECT_EQ(fate(state, plan_of(state), "a"), "start 4");
}

// Ten hours old: the factor of a change is 36,000 / 36,030. After 1,100 restarts it is 3,000 / 36,030, and 5 in place
// of 3.4 is no gain.
TEST(ElasticPollux, AJobThatWasRestartedOftenStaysAsItIs) {
  Snapshot s = one_node();
  Job& job = runs(elastic(s, "a"), 4);
  job.submit_us = 0;
  s.now_us = 36'000 * kSecond;
  const ClusterState once(s);
  EXPECT_EQ(fate(once, plan_of(once), "a"), "resize 8");
  job.progress.restarts = 1'100;
  const ClusterState often(s);
  EXPECT_EQ(fate(often, plan_of(often), "a"), "keep 4");
}

// Both may have 8; the node order follows attained service, but fitness gives half to each.
TEST(ElasticPollux, SharesANodeByFitness) {
  Snapshot s = one_node();
  for (const char* id : {"a", "b"}) elastic(s, id).progress.observed = {{8, {5'000'000}}};
  const ClusterState state(s);

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start 4");
  EXPECT_EQ(fate(state, plan, "b"), "start 4");
}

// With value 0 in the search neither would be chosen, and the first would take its best option: all GPUs, by its
// weight.
TEST(ElasticPollux, TheValueOfJobsSubmittedJustNowIsTheirSpeed) {
  Snapshot s = one_node();
  for (const char* id : {"a", "b"}) {
    Job& job = elastic(s, id);
    job.submit_us = s.now_us;
    job.progress.observed = {{8, {5'000'000}}};
  }
  s.jobs[0].weight_ppm = 3'000'000;
  const ClusterState state(s);

  const Plan plan = plan_of(state, {{"generations", "20"}, {"objective", "throughput"}});

  EXPECT_EQ(fate(state, plan, "a"), "start 4");
  EXPECT_EQ(fate(state, plan, "b"), "start 4");
}

TEST(ElasticPollux, AJobThatKeepsItsGpusKeepsItsShape) {
  Snapshot s = one_node();
  Job& job = runs(elastic(s, "a", {{4, 3'400'000}, {4, 3'500'000}}), 4);
  job.shapes[1].id = "quicker";
  job.shapes[1].local_batch = 7;
  const ClusterState state(s);

  EXPECT_EQ(fate(state, plan_of(state), "a"), "keep 4");
}

// Both are on both nodes, where only one of them may stay: the one with less attained service. No generation follows
// this repair, and the nodes end too soon for the other one to start again.
TEST(ElasticPollux, JobsWithLessServiceComeFirst) {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  s.gpu_types.resize(1);
  for (Node& node : s.nodes) node.available_until_us = s.now_us + 60 * kSecond;
  for (const char* id : {"a", "b"}) {
    Job& job = elastic(s, id, {{8, 5'000'000}});
    for (const char* node : {"n0", "n1"}) run_on(job, node, *id == 'a' ? std::vector{0, 1, 2, 3} : std::vector{4, 5, 6, 7});
    job.allocation.entries[1].member = 4;
    job.progress.attained_gpu_us = *id == 'a' ? 2'000'000 : 1'000'000;
  }
  const ClusterState state(s);

  const Plan plan = plan_of(state, {{"generations", "0"}});

  EXPECT_EQ(fate(state, plan, "b"), "keep 8");
  EXPECT_EQ(fate(state, plan, "a"), "preempt");
}

// Eight jobs fill the node of eight. Counting any of its GPUs twice would exceed the capacity.
TEST(ElasticPollux, WhatRunsCountsAsWhatIsThere) {
  Snapshot s = one_node();
  runs(elastic(s, "a"), 8).submit_us = 0;
  for (int i = 0; i < 7; ++i) elastic(s, "b" + std::to_string(i));
  s.now_us = 100'000 * kSecond;
  const ClusterState state(s);

  const Plan plan = plan_of(state, {{"generations", "100"}});

  EXPECT_EQ(fate(state, plan, "a"), "resize 1");
  for (int i = 0; i < 7; ++i) EXPECT_EQ(fate(state, plan, "b" + std::to_string(i)), "start 1");
}

TEST(ElasticPollux, AJobTakesTheTypeOnWhichItIsQuick) {
  const ClusterState state(test::two_types());

  const Plan plan = plan_of(state);

  EXPECT_EQ(fate(state, plan, "a"), "start h");
  EXPECT_EQ(fate(state, plan, "b"), "start s");
}

TEST(ElasticPollux, AQuestionThatIsTooLargeIsRefused) {
  Snapshot s = one_node();
  for (int i = 0; i < 20'000; ++i) elastic(s, std::to_string(i), {{1, 1'000'000}});
  const ClusterState state(s);
  try {
    plan_of(state, {{"population", "10000"}});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "elastic-pollux searches at most 268435456 numbers (2 x population x jobs x nodes); 2 x 10000 x 20000 x 1 are 400000000");
  }
}

TEST(ElasticPollux, BadParametersAreRefused) {
  const ClusterState state(one_node());
  for (const char* bad : {"0", "-1", "10001", "1.5", ""}) EXPECT_THROW(plan_of(state, {{"population", bad}}), InvalidArgument) << bad;
  for (const char* bad : {"-1", "1000001", "x"}) EXPECT_THROW(plan_of(state, {{"generations", bad}}), InvalidArgument) << bad;
  EXPECT_EQ(plan_of(state, {{"population", "1"}, {"generations", "0"}}).bound.bound, 0);
}

}  // namespace
}  // namespace berth::elastic_pollux_test
