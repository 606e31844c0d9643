// Gavel's policies by hand: docs/shares.md.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::gavel_test {
namespace {

using test::add_job;
using test::fate;
using test::one_node;
using test::run_on;

const std::vector<std::int32_t> kAll{0, 1, 2, 3, 4, 5, 6, 7};

Plan plan_of(const ClusterState& state, PolicyState& kept, const std::string& policy = "gavel-las",
             std::vector<std::pair<std::string, std::string>> params = {}) {
  return test::valid_plan(state, test::asking(policy, std::move(params)), kept);
}

/// Jobs a and b of 8 GPUs each on one node of 8; only one of them can run.
Snapshot two_jobs(TimeUs now, const std::string& running) {
  Snapshot s = one_node();
  s.now_us = now;
  for (const char* id : {"a", "b"}) {
    Job& job = add_job(s, id, 8);
    if (id == running) run_on(job, "n0", kAll);
  }
  return s;
}

TEST(GavelPolicy, SharesTimeByRounds) {
  PolicyState kept;
  const ClusterState first(two_jobs(1'000 * kSecond, ""));
  EXPECT_EQ(fate(first, plan_of(first, kept), "a"), "start s");
  EXPECT_EQ(kept.scalars.at("level"), 4'000'000'000'000);  // half of the time x 8 GPUs; an equal part, 4 GPUs, is cut to one all the time
  EXPECT_EQ(kept.scalars.at("level_bound"), 4'000'000'000'000);

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

// Three times the weight: three times the time, over counts of 1,920 s.
TEST(GavelPolicy, FollowsWeights) {
  PolicyState kept;
  std::string running;
  int rounds_of_b = 0;
  for (int round = 0; round < 80; ++round) {
    Snapshot s = two_jobs((1'000 + 360 * round) * kSecond, running);
    s.jobs[1].weight_ppm = 3'000'000;
    const ClusterState state(s);
    const Plan plan = plan_of(state, kept);
    running = fate(state, plan, "a") == "start s" || fate(state, plan, "a") == "keep s" ? "a" : "b";
    rounds_of_b += running == "b" ? 1 : 0;
  }
  EXPECT_GE(rounds_of_b, 58);
  EXPECT_LE(rounds_of_b, 62);
}

TEST(GavelPolicy, CountsWhatJobsHaveAndAreOwed) {
  PolicyState kept;
  const std::vector<std::pair<std::string, std::string>> long_rounds{{"round_s", "100000"}};
  const ClusterState first(two_jobs(1'000 * kSecond, ""));
  plan_of(first, kept, "gavel-las", long_rounds);
  const ClusterState later(two_jobs(1'600 * kSecond, "a"));
  plan_of(later, kept, "gavel-las", long_rounds);
  using Column = std::map<std::string, std::int64_t>;
  EXPECT_EQ(kept.columns.at("received/a100"), (Column{{"a", 600 * kSecond}}));
  EXPECT_EQ(kept.columns.at("owed/a100"), (Column{{"a", -300 * kSecond}, {"b", 300 * kSecond}}));  // each should have received half
  EXPECT_EQ(kept.columns.at("share/a100"), (Column{{"a", 500'000}, {"b", 500'000}}));

  // 1,920 s after the first decision received time is forgotten, owed time is not.
  const ClusterState anew(two_jobs(2'920 * kSecond, "a"));
  plan_of(anew, kept, "gavel-las", long_rounds);
  EXPECT_EQ(kept.columns.at("received/a100"), (Column{{"a", 1'320 * kSecond}}));  // since the previous decision
  EXPECT_EQ(kept.columns.at("owed/a100"), (Column{{"a", -960 * kSecond}, {"b", 960 * kSecond}}));
}

// b waited since the beginning. Of the time that a has had, the counts of 1,920 s forget 1,000 s, and both begin alike.
TEST(GavelPolicy, AllTimeThatAJobHasHadMayCount) {
  const std::vector<std::pair<std::string, std::string>> all{{"round_s", "0"}, {"received", "all"}};
  PolicyState kept;
  const ClusterState first(two_jobs(1'000 * kSecond, ""));
  EXPECT_EQ(fate(first, plan_of(first, kept, "gavel-las", all), "a"), "start s") << "both have had nothing: the first";
  const ClusterState later(two_jobs(3'000 * kSecond, "a"));
  plan_of(later, kept, "gavel-las", all);
  EXPECT_EQ(kept.columns.at("received/a100"), (std::map<std::string, std::int64_t>{{"a", 2'000 * kSecond}}));

  const ClusterState again(two_jobs(5'000 * kSecond, "b"));
  plan_of(again, kept, "gavel-las", all);

  EXPECT_EQ(kept.columns.at("received/a100"), (std::map<std::string, std::int64_t>{{"a", 2'000 * kSecond}, {"b", 2'000 * kSecond}}));
}

// It cannot be displaced, so its share does not matter; it still runs.
TEST(GavelPolicy, CountsTheTimeOfJobsThatStay) {
  PolicyState kept;
  Snapshot s = two_jobs(1'000 * kSecond, "a");
  s.jobs[0].preemption.preemptible = false;
  const ClusterState first(s);
  plan_of(first, kept);
  s.now_us = 1'500 * kSecond;
  const ClusterState second(s);
  plan_of(second, kept);

  EXPECT_EQ(kept.columns.at("received/a100").at("a"), 500 * kSecond);
}

TEST(GavelPolicy, CountsFromTheStartOfAJob) {
  PolicyState kept;
  const ClusterState first(two_jobs(1'000 * kSecond, ""));
  plan_of(first, kept);
  Snapshot s = two_jobs(2'000 * kSecond, "a");
  s.jobs[0].last_assignment_us = 1'990 * kSecond;
  const ClusterState second(s);
  plan_of(second, kept);

  EXPECT_EQ(kept.columns.at("received/a100").at("a"), 10 * kSecond);
}

// From another cluster, from the future, or of unknown jobs: impossible values are ignored and do no lasting harm.
TEST(GavelPolicy, TakesAnyKeptState) {
  for (const std::int64_t odd : {INT64_MIN, std::int64_t{-1}, std::int64_t{5'000} * kSecond, INT64_MAX}) {
    PolicyState kept;
    kept.policy = "gavel-las";
    for (const char* name : {"round_began_us", "decided_us", "counted_us", "level", "price/a100"}) kept.scalars[name] = odd;
    for (const char* name : {"received/a100", "owed/a100", "share/a100", "received/gone"}) kept.columns[name] = {{"a", odd}, {"x", odd}};
    std::string running;
    for (int round = 0; round < 4; ++round) {
      const ClusterState state(two_jobs((1'000 + 360 * round) * kSecond, running));
      const Plan plan = plan_of(state, kept);
      EXPECT_EQ(plan.totals.gpus_used, 8);
      running = fate(state, plan, "a") == "start s" || fate(state, plan, "a") == "keep s" ? "a" : "b";
    }
    EXPECT_EQ(kept.scalars.at("decided_us"), 2'080 * kSecond);
    EXPECT_EQ(kept.columns.count("received/gone"), 0U);
    EXPECT_EQ(kept.columns.at("share/a100").count("x"), 0U);
  }
}

// An hour without a decision, and jobs past their estimated end: no number overflows.
TEST(GavelPolicy, SharesWithJobsThatHaveOutrunTheirEstimates) {
  for (const char* policy : {"gavel-ftf", "gavel-makespan"}) {
    Snapshot s = two_jobs(4'000'000 * kSecond, "a");
    for (Job& job : s.jobs) job.estimate.run_us = 1;
    s.jobs[0].progress.run_us = 3'000'000 * kSecond;
    PolicyState kept;
    const ClusterState state(s);
    plan_of(state, kept, policy);

    EXPECT_GT(kept.scalars.at("level"), 0) << policy;
    EXPECT_GE(kept.scalars.at("level_bound"), kept.scalars.at("level")) << policy;
  }
}

Snapshot two_types(std::int64_t left_a_s, std::int64_t left_b_s) {
  Snapshot s = test::two_types();
  test::lasting(s.jobs[0], left_a_s);
  test::lasting(s.jobs[1], left_b_s);
  return s;
}

TEST(GavelPolicy, GivesEachTheTypeThatSuitsIt) {
  for (const char* policy : {"gavel-las", "gavel-makespan", "gavel-ftf"}) {
    PolicyState kept;
    const ClusterState state(two_types(1'000, 1'000));
    const Plan plan = plan_of(state, kept, policy);

    EXPECT_EQ(fate(state, plan, "a"), "start h") << policy;
    EXPECT_EQ(fate(state, plan, "b"), "start s") << policy;
  }
}

// 1,000 s of work each at full speed.
TEST(GavelPolicy, LevelOfTheMakespanIsOneOverIt) {
  PolicyState kept;
  const ClusterState state(two_types(1'000, 500));
  plan_of(state, kept, "gavel-makespan");

  EXPECT_EQ(kept.scalars.at("level"), 1'000'000'000);
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

  for (const auto& [name, column] : kept.columns) EXPECT_EQ(column.count("a"), 0U) << name;
}

}  // namespace
}  // namespace berth::gavel_test
