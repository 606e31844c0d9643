// Keys by hand, with time slices of 60 s: a key is the round x 2^20, and within a round running jobs come before those
// that began to wait.

#include <gtest/gtest.h>

#include "tests/support/policy_jobs.hpp"

namespace berth::gandiva_test {
namespace {

using core::find_policy;
using testing::PolicyJob;
using testing::PolicyJobs;
using Keys = std::vector<std::int64_t>;

constexpr std::int64_t kRound = std::int64_t{1} << 20;

std::int64_t waits_since_round(std::int64_t round) { return round * kRound + kRound - 1; }

PolicyJob waiting(TimeUs submit, TimeUs since = kNever) {
  PolicyJob one;
  one.submit = submit;
  one.waiting_since = since;
  return one;
}

PolicyJob running(TimeUs assigned) {
  PolicyJob one;
  one.running = true;
  one.assigned = assigned;
  return one;
}

}  // namespace

TEST(Gandiva, AWaitingJobIsOrderedByWhenItBeganToWait) {
  const auto policy = find_policy("gandiva").make({});
  const PolicyJobs jobs({waiting(59'999'999), waiting(60 * kSecond), waiting(0, 125 * kSecond)});

  EXPECT_EQ(jobs.keys(*policy, 130 * kSecond), (Keys{waits_since_round(0), waits_since_round(1), waits_since_round(2)}));
  EXPECT_EQ(jobs.keys(*policy, 9'000 * kSecond), jobs.keys(*policy, 130 * kSecond));
  EXPECT_EQ(jobs.next_change(*policy, 130 * kSecond), (Keys{kNever, kNever, kNever}));
}

TEST(Gandiva, NoJobLosesItsGpusInItsTimeSlice) {
  const auto policy = find_policy("gandiva").make({});
  const PolicyJobs jobs({running(60 * kSecond), running(119'999'999), waiting(0)});

  EXPECT_EQ(jobs.keys(*policy, 119'999'999), (Keys{-1, -1, waits_since_round(0)}));
  EXPECT_EQ(jobs.next_change(*policy, 119'999'999), (Keys{120 * kSecond, 120 * kSecond, kNever}));
  // The round is over: both come after the jobs that waited before, the one that ran longer last, and before jobs that
  // wait from now on.
  const Keys then =
      PolicyJobs({running(0), running(60 * kSecond), waiting(119 * kSecond), waiting(120 * kSecond)}).keys(*policy, 120 * kSecond);
  EXPECT_EQ(then, (Keys{2 * kRound + 2, 2 * kRound + 1, waits_since_round(1), waits_since_round(2)}));
  EXPECT_EQ(PolicyJobs({running(0)}).next_change(*policy, 120 * kSecond), (Keys{180 * kSecond}));
}

TEST(Gandiva, ATimeSliceWithoutAKnownBeginningIsOver) {
  const auto policy = find_policy("gandiva").make({});
  const PolicyJobs jobs({running(kNever), running(11 * kSecond)});

  EXPECT_EQ(jobs.keys(*policy, 10 * kSecond), (Keys{kRound - 2, kRound - 2}));
}

TEST(Gandiva, KeysHoldToTheLargestTime) {
  const auto policy = find_policy("gandiva").make({{"quantum_s", "1"}});
  const std::int64_t round = kMaxTimeUs / kSecond;
  const PolicyJobs jobs({running(0), running(kMaxTimeUs), waiting(kMaxTimeUs)});

  EXPECT_EQ(jobs.keys(*policy, kMaxTimeUs), (Keys{round * kRound + kRound - 2, -1, waits_since_round(round)}));
}

}  // namespace berth::gandiva_test
