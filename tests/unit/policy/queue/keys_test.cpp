// Keys of policies without policy state, computed by hand; job ranks break ties outside of the policy.
#include <gtest/gtest.h>

#include "tests/support/policy_jobs.hpp"

namespace berth::keys_test {
namespace {

using core::find_policy;
using testing::PolicyJob;
using testing::PolicyJobs;
using Keys = std::vector<std::int64_t>;

PolicyJob job(std::int32_t gpus, TimeUs estimate, TimeUs remaining, bool running = false) {
  PolicyJob one;
  one.gpus = gpus;
  one.estimate = estimate;
  one.remaining = remaining;
  one.running = running;
  return one;
}

// The largest product that fits, one beyond it, and one far beyond.
const std::vector<PolicyJob> kLarge{job(2, kNever / 2, kNever / 2), job(2, kNever / 2 + 1, kNever / 2 + 1),
                                    job(100'000'000, kMaxTimeUs, kMaxTimeUs)};

}  // namespace

TEST(Fifo, KeyIsTheSubmitInstant) {
  PolicyJob early, late;
  early.submit = 5;
  late.submit = 9;
  const PolicyJobs jobs({late, early, late});
  const auto policy = find_policy("fifo").make({});

  EXPECT_EQ(jobs.keys(*policy, 100), (Keys{9, 5, 9}));
  EXPECT_EQ(jobs.next_change(*policy, 100), (Keys{kNever, kNever, kNever}));
}

TEST(Sjf, HeliosFormIsTheEstimateAndUnknownComesLast) {
  const PolicyJobs jobs({job(4, 30, 1), job(1, kNever, 1), job(2, 30, 1)});
  const auto policy = find_policy("sjf").make({});

  EXPECT_EQ(jobs.keys(*policy), (Keys{30, kNever, 30}));
  EXPECT_EQ(jobs.next_change(*policy), (Keys{kNever, kNever, kNever}));
}

TEST(Sjf, TiresiasFormIsTheGpuCount) {
  const PolicyJobs jobs({job(4, 30, 1), job(1, kNever, 1), job(4, 10, 1)});

  EXPECT_EQ(jobs.keys(*find_policy("sjf").make({{"form", "tiresias"}})), (Keys{4, 1, 4}));
}

TEST(Srtf, KeyIsTheRemainingTimeAndMovesWhileRunning) {
  const PolicyJobs jobs({job(4, 1, 30, true), job(1, 1, kNever, true), job(2, 1, 30), job(2, 1, kNever)});
  const auto policy = find_policy("srtf").make({});

  EXPECT_EQ(jobs.keys(*policy, 50), (Keys{30, kNever, 30, kNever}));
  EXPECT_EQ(jobs.next_change(*policy, 50), (Keys{50, kNever, kNever, kNever}));
}

TEST(Srsf, KeyIsRemainingTimesGpus) {
  const PolicyJobs jobs({job(4, 1, 30, true), job(8, 1, kNever), job(3, 1, 40), job(1, 1, 1)});
  const auto policy = find_policy("srsf").make({});

  EXPECT_EQ(jobs.keys(*policy, 50), (Keys{120, kNever, 120, 1}));
  EXPECT_EQ(jobs.next_change(*policy, 50), (Keys{50, kNever, kNever, kNever}));
}

TEST(Srsf, ProductSaturates) { EXPECT_EQ(PolicyJobs(kLarge).keys(*find_policy("srsf").make({})), (Keys{kNever - 1, kNever, kNever})); }

TEST(Qssf, ProductSaturates) {
  std::vector<PolicyJob> large = kLarge;
  for (std::size_t i = 0; i < large.size(); ++i) large[i].id = std::string(1, static_cast<char>('a' + i));

  EXPECT_EQ(PolicyJobs(large).keys(*find_policy("qssf").make({})), (Keys{kNever - 1, kNever, kNever}));
}

TEST(Priority, LargerIsMoreImportantOverTheWholeRange) {
  PolicyJob least, plain, most;
  least.priority = INT32_MIN;
  most.priority = INT32_MAX;
  const PolicyJobs jobs({least, plain, most});
  const auto policy = find_policy("priority").make({});

  EXPECT_EQ(jobs.keys(*policy), (Keys{2147483648, 0, -2147483647}));
  EXPECT_EQ(jobs.next_change(*policy), (Keys{kNever, kNever, kNever}));
}

TEST(Edf, KeyIsTheDeadlineAndNoneComesLast) {
  PolicyJob dated, open, missed;
  dated.deadline = 70;
  missed.deadline = -3;
  const PolicyJobs jobs({dated, open, missed});
  const auto policy = find_policy("edf").make({});

  EXPECT_EQ(jobs.keys(*policy, 100), (Keys{70, kNever, -3}));
  EXPECT_EQ(jobs.next_change(*policy, 100), (Keys{kNever, kNever, kNever}));
}

}  // namespace berth::keys_test
