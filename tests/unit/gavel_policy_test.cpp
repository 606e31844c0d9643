// Gavel's policies by hand: docs/shares.md.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "tests/unit/shape_policy_support.hpp"

namespace berth {
namespace {

using test::add_job;
using test::fate;
using test::one_node;
using test::run_on;

const std::vector<std::int32_t> kAll{0, 1, 2, 3, 4, 5, 6, 7};

Plan plan_of(const ClusterState& state, PolicyState& kept, const std::string& policy = "gavel-las",
             std::vector<std::pair<std::string, std::string>> params = {}) {
  Request request;
  request.policy = policy;
  request.params = std::move(params);
  Engine engine;
  Plan plan;
  engine.decide(state, kept, request, plan);
  EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
  return plan;
}

/// Jobs a and b of 8 GPUs each on one node of 8; one of them may run.
Snapshot two_jobs(TimeUs now, const std::string& running) {
  Snapshot s = one_node();
  s.now_us = now;
  for (const char* id : {"a", "b"}) {
    Job& job = add_job(s, id, 8);
    if (id == running) run_on(job, "n0", kAll);
  }
  return s;
}

TEST(GavelPolicy, TakesTurnsByRounds) {
  PolicyState kept;
  const ClusterState first(two_jobs(1'000 * kSecond, ""));
  EXPECT_EQ(fate(first, plan_of(first, kept), "a"), "start s");
  EXPECT_EQ(kept.scalars.at("level_ppm"), 4'000'000);  // half of the time, 8 GPUs, over half of a GPU's speed
  EXPECT_EQ(kept.scalars.at("level_bound_ppm"), 4'000'000);

  const ClusterState within(two_jobs(1'359 * kSecond, "a"));
  EXPECT_EQ(fate(within, plan_of(within, kept), "a"), "keep s");
  EXPECT_EQ(kept.columns.at("received/a100"), (std::map<std::string, std::int64_t>{{"a", 359 * kSecond}}));

  const ClusterState due(two_jobs(1'360 * kSecond, "a"));
  const Plan plan = plan_of(due, kept);
  EXPECT_EQ(fate(due, plan, "b"), "start s");
  EXPECT_EQ(fate(due, plan, "a"), "preempt");

  // b has received 360 s, as a has: the lower rank goes first.
  const ClusterState next(two_jobs(1'720 * kSecond, "b"));
  EXPECT_EQ(fate(next, plan_of(next, kept), "a"), "start s");
}

TEST(GavelPolicy, GivesWhatBecomesFreeWithinARound) {
  PolicyState kept;
  Snapshot s = two_jobs(1'000 * kSecond, "");
  const ClusterState first(s);
  plan_of(first, kept);
  s = two_jobs(1'010 * kSecond, "");
  s.jobs.erase(s.jobs.begin());  // a has ended

  const ClusterState second(s);
  EXPECT_EQ(fate(second, plan_of(second, kept), "b"), "start s");
}

// Three times the weight: 3/4 of the time. When both have received as much, a goes first until it has had three times what b had.
TEST(GavelPolicy, FollowsWeights) {
  PolicyState kept;
  std::string running, order;
  for (int round = 0; round < 9; ++round) {
    Snapshot s = two_jobs((1'000 + 100 * round) * kSecond, running);
    s.jobs[1].weight_ppm = 3'000'000;
    const ClusterState state(s);
    const Plan plan = plan_of(state, kept, "gavel-las", {{"round_s", "100"}});
    running = fate(state, plan, "a") == "start s" || fate(state, plan, "a") == "keep s" ? "a" : "b";
    order += running;
  }
  EXPECT_EQ(order, "babbbabbb");
}

TEST(GavelPolicy, PaysWhatIsOwedAfterACount) {
  PolicyState kept;
  const ClusterState first(two_jobs(1'000 * kSecond, ""));
  plan_of(first, kept, "gavel-las", {{"round_s", "100000"}});
  const ClusterState later(two_jobs(3'000 * kSecond, "a"));
  plan_of(later, kept, "gavel-las", {{"round_s", "100000"}});

  // Of 2,000 s each was to have the half.
  EXPECT_EQ(kept.columns.at("owed/a100"), (std::map<std::string, std::int64_t>{{"a", -1'000 * kSecond}, {"b", 1'000 * kSecond}}));
  EXPECT_EQ(kept.columns.count("received/a100"), 0U);

  const ClusterState due(two_jobs(102'000 * kSecond, ""));
  EXPECT_EQ(fate(due, plan_of(due, kept, "gavel-las", {{"round_s", "100000"}}), "b"), "start s");
}

/// Two types, one node of each; a and b are as quick on the first, b three times slower on the second, where a is no slower.
Snapshot two_types(TimeUs left_a, TimeUs left_b) {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  s.nodes[1].gpu_type = "h100";
  for (const char* id : {"a", "b"}) {
    Job& job = add_job(s, id, 8);
    job.shapes[0].gpu_type = "a100";
    job.shapes[0].rate = 3'000'000;
    job.shapes.push_back(job.shapes[0]);
    job.shapes[1].id = "h";
    job.shapes[1].gpu_type = "h100";
    job.shapes[1].rate = *id == 'a' ? 3'000'000 : 1'000'000;
    job.estimate.run_us = *id == 'a' ? left_a : left_b;
  }
  return s;
}

TEST(GavelPolicy, GivesEachTheTypeThatSuitsIt) {
  for (const char* policy : {"gavel-las", "gavel-makespan", "gavel-ftf"}) {
    PolicyState kept;
    const ClusterState state(two_types(1'000 * kSecond, 1'000 * kSecond));
    const Plan plan = plan_of(state, kept, policy);

    EXPECT_EQ(fate(state, plan, "a"), "start h") << policy;
    EXPECT_EQ(fate(state, plan, "b"), "start s") << policy;
  }
}

// 1,000 s of work each at full speed.
TEST(GavelPolicy, LevelOfTheMakespanIsOneOverIt) {
  PolicyState kept;
  const ClusterState state(two_types(1'000 * kSecond, 500 * kSecond));
  plan_of(state, kept, "gavel-makespan");

  EXPECT_EQ(kept.scalars.at("level_ppm"), 1'000);
}

TEST(GavelPolicy, ForgetsJobsThatLeft) {
  PolicyState kept;
  const ClusterState first(two_jobs(1'000 * kSecond, "a"));
  plan_of(first, kept);
  const ClusterState second(two_jobs(1'100 * kSecond, "a"));
  plan_of(second, kept);
  ASSERT_EQ(kept.columns.at("received/a100").count("a"), 1U);
  Snapshot s = two_jobs(1'200 * kSecond, "");
  s.jobs.erase(s.jobs.begin());
  const ClusterState third(s);
  plan_of(third, kept);

  EXPECT_TRUE(kept.columns.empty());
}

}  // namespace
}  // namespace berth
