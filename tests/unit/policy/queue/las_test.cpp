#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/policy_jobs.hpp"

namespace berth::las_test {
namespace {

using core::find_policy;
using testing::PolicyJob;
using testing::PolicyJobs;
using Keys = std::vector<std::int64_t>;

PolicyJob job(std::int32_t gpus, std::int64_t attained, bool running, TimeUs waiting_since = kNever) {
  PolicyJob one;
  one.gpus = gpus;
  one.attained_gpu_us = attained;
  one.running = running;
  one.waiting_since = waiting_since;
  return one;
}

}  // namespace

TEST(Las, LevelSinksAtEachThreshold) {
  const std::int64_t first = 3250 * kSecond, second = 7200 * kSecond, third = 18000 * kSecond;
  const PolicyJobs jobs({job(1, 0, false), job(1, first - 1, true), job(1, first, true), job(1, second - 1, false), job(1, second, false),
                         job(1, third - 1, true), job(1, third, true), job(1, kNever, false)});

  EXPECT_EQ(jobs.keys(*find_policy("las").make({})), (Keys{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(Las, NextChangeIsTheFirstInstantAtTheNextLevel) {
  const auto policy = find_policy("las").make({{"thresholds_gpu_s", "0.00001,0.00004"}});  // 10 and 40 GPU-microseconds
  // 4 GPUs at 1: 3 more microseconds give 13 >= 10, two give 9. 3 GPUs at 10: 10 microseconds give exactly 40.
  const PolicyJobs jobs({job(4, 1, true), job(3, 10, true), job(1, 40, true), job(4, 1, false)});
  EXPECT_EQ(jobs.next_change(*policy, 100), (Keys{103, 110, kNever, kNever}));

  EXPECT_EQ(PolicyJobs({job(4, 9, true), job(3, 37, true)}).keys(*policy, 102), (Keys{0, 1}));
  EXPECT_EQ(PolicyJobs({job(4, 13, true), job(3, 40, true)}).keys(*policy, 103), (Keys{1, 2}));
}

TEST(Las, PromotionIsOffByDefault) {
  const PolicyJobs jobs({job(1, 3250 * kSecond, false, 0)});
  const auto policy = find_policy("las").make({});

  EXPECT_EQ(jobs.keys(*policy, kMaxTimeUs), (Keys{1}));
  EXPECT_EQ(jobs.next_change(*policy, 5), (Keys{kNever}));
}

TEST(Las, AJobThatWaitedKnobTimesItsRunTimeStartsAgainAtTheTop) {
  // Threshold 10 GPU-us, knob 1.5; 2 GPUs, 21 GPU-us attained: due 15.75, so 16 microseconds after it began to wait at 100.
  const auto policy = find_policy("las").make({{"thresholds_gpu_s", "0.00001"}, {"promote_knob", "1.5"}});
  const PolicyJobs jobs({job(2, 21, false, 100)});
  PolicyState state;
  policy->load(state);
  EXPECT_EQ(jobs.keys(*policy, 115), (Keys{1}));
  EXPECT_EQ(jobs.next_change(*policy, 115), (Keys{116}));
  policy->store(state);
  EXPECT_TRUE(state.columns["las_reset_gpu_us"].empty());

  policy->load(state);
  EXPECT_EQ(jobs.keys(*policy, 116), (Keys{0}));
  EXPECT_EQ(jobs.next_change(*policy, 116), (Keys{kNever}));
  policy->store(state);
  EXPECT_EQ(state.columns["las_reset_gpu_us"].at("j"), 21);

  // Running again: ten more GPU-microseconds until it sinks.
  policy->load(state);
  const PolicyJobs again({job(2, 25, true)});
  EXPECT_EQ(again.keys(*policy, 200), (Keys{0}));
  EXPECT_EQ(again.next_change(*policy, 200), (Keys{203}));
  EXPECT_EQ(PolicyJobs({job(2, 31, true)}).keys(*policy, 203), (Keys{1}));
}

TEST(Las, AJobThatNeverRanWaitsSinceItsSubmission) {
  PolicyJob restored = job(1, 10, false);
  restored.submit = 50;
  const auto policy = find_policy("las").make({{"thresholds_gpu_s", "0.00001"}, {"promote_knob", "2"}});

  EXPECT_EQ(PolicyJobs({restored, job(1, 0, false, 0)}).next_change(*policy, 60), (Keys{70, kNever}));
}

namespace {

PolicyJob named(const char* id, std::int64_t attained, bool running) {
  PolicyJob one = job(1, attained, running);
  one.id = id;
  return one;
}

/// The ids in the order of a decision, which is kept in `state`.
std::string order(core::QueuePolicy& policy, PolicyState& state, const std::vector<PolicyJob>& jobs) {
  policy.load(state);
  const Keys keys = PolicyJobs(jobs).keys(policy);
  policy.store(state);
  std::vector<std::size_t> by_key;
  for (std::size_t j = 0; j < jobs.size(); ++j) by_key.push_back(j);
  std::stable_sort(by_key.begin(), by_key.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  std::string ids;
  for (const std::size_t j : by_key) ids += jobs[j].id;
  return ids;
}

constexpr bool kRuns = true, kWaits = false;

}  // namespace

TEST(LasByEntry, JobsThatRunMoveToTheFrontOfTheirQueue) {
  const auto policy = find_policy("las").make({{"thresholds_gpu_s", "0.00001"}, {"queue_order", "running"}});
  PolicyState state;
  EXPECT_EQ(order(*policy, state, {named("a", 0, kWaits), named("b", 0, kWaits), named("c", 0, kWaits)}), "abc");
  // Now b and c run. They stay in their order, and a is behind them although it came first.
  EXPECT_EQ(order(*policy, state, {named("a", 0, kWaits), named("b", 1, kRuns), named("c", 1, kRuns)}), "bca");
  // d came behind a. Only c runs: b is before those that waited all the time.
  EXPECT_EQ(order(*policy, state, {named("a", 0, kWaits), named("b", 2, kWaits), named("c", 2, kRuns), named("d", 0, kWaits)}), "cbad");
  // a starts, and stands behind the job that runs already.
  EXPECT_EQ(order(*policy, state, {named("a", 0, kRuns), named("b", 2, kWaits), named("c", 3, kRuns), named("d", 0, kWaits)}), "cabd");
}

TEST(LasByEntry, AJobThatSinksIsLastInTheNextQueueUntilItHasKeptItsGpus) {
  const auto policy = find_policy("las").make({{"thresholds_gpu_s", "0.00001"}, {"queue_order", "running"}});
  PolicyState state;
  EXPECT_EQ(order(*policy, state, {named("a", 0, kWaits), named("b", 12, kWaits), named("c", 15, kWaits)}), "abc");
  EXPECT_EQ(order(*policy, state, {named("a", 5, kRuns), named("b", 12, kWaits), named("c", 15, kWaits)}), "abc");
  EXPECT_EQ(order(*policy, state, {named("a", 10, kRuns), named("b", 12, kWaits), named("c", 15, kWaits)}), "bca");
  EXPECT_EQ(order(*policy, state, {named("a", 11, kRuns), named("b", 12, kWaits), named("c", 15, kWaits)}), "abc");
  EXPECT_EQ(state.columns["las_place"].size(), 3u);
}

TEST(LasByEntry, WithEntryAloneRunningChangesNothing) {
  const auto policy = find_policy("las").make({{"thresholds_gpu_s", "0.00001"}, {"queue_order", "entry"}});
  PolicyState state;
  EXPECT_EQ(order(*policy, state, {named("a", 0, kWaits), named("b", 20, kWaits), named("c", 9, kRuns)}), "acb");
  EXPECT_EQ(order(*policy, state, {named("a", 3, kRuns), named("b", 20, kWaits), named("c", 10, kRuns)}), "abc");
  EXPECT_EQ(order(*policy, state, {named("a", 4, kWaits), named("b", 20, kWaits), named("c", 11, kRuns)}), "abc");
}

TEST(LasByEntry, JobsWithoutAKnownPastStandAsTheyAreAndOddStatesAreUsable) {
  const auto policy = find_policy("las").make({{"queue_order", "running"}});
  PolicyState state;
  state.columns["las_place"]["a"] = -5;
  state.scalars["las_moves"] = INT64_MAX;
  EXPECT_EQ(order(*policy, state, {named("a", 0, kWaits), named("b", 0, kRuns), named("c", 0, kRuns)}), "bca");
}

TEST(LasByEntry, KeysAreNotThoseThatASimulationByCountsKeeps) {
  EXPECT_TRUE(find_policy("las").make({})->rests_while_waiting());
  EXPECT_FALSE(find_policy("las").make({{"queue_order", "running"}})->rests_while_waiting());
  EXPECT_FALSE(find_policy("las").make({{"queue_order", "entry"}})->rises_only_at_changes());
}

}  // namespace berth::las_test
