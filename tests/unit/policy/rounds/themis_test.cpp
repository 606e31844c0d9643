// Keys by hand on a cluster of 8 GPUs. With two jobs, one Nth of it is 4 GPUs.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/policy_jobs.hpp"

namespace berth::themis_test {
namespace {

using core::find_policy;
using testing::PolicyJob;
using testing::PolicyJobs;
using Keys = std::vector<std::int64_t>;

constexpr TimeUs kLease = 1'200 * kSecond;
constexpr std::int64_t kClass = std::int64_t{1} << 61;

std::int64_t worst(std::int64_t rho_ppm) { return kClass + kClass - 2 - rho_ppm; }
std::int64_t keeps(std::int64_t rho_ppm) { return 2 * kClass + kClass - 2 - rho_ppm; }
std::int64_t left_over(std::int64_t rho_ppm) { return 3 * kClass + (kClass - 2 - rho_ppm); }

PolicyJob waiting(const std::string& id, std::int32_t gpus, TimeUs submit, TimeUs run) {
  PolicyJob one;
  one.id = id;
  one.gpus = gpus;
  one.submit = submit;
  one.estimate = one.remaining = run;
  return one;
}

PolicyJob running(const std::string& id, std::int32_t gpus, TimeUs assigned, TimeUs run, TimeUs left) {
  PolicyJob one = waiting(id, gpus, 0, run);
  one.running = true;
  one.remaining = left;
  one.assigned = assigned;
  one.attained_gpu_us = (run - left) * gpus;
  return one;
}

}  // namespace

// From 100 s on, leases of 1,200 s of its own end at 1,300 s and 2,500 s, common ones at 1,200 s and 2,400 s.
TEST(Themis, ALeaseThatEndsNowHasNotBegunAgain) {
  const auto own = find_policy("themis").make({}), common = find_policy("themis").make({{"leases", "common"}});
  const auto from_s = [](const core::QueuePolicy& policy, TimeUs now_s) {
    return policy.slice_from(100 * kSecond, now_s * kSecond) / kSecond;
  };

  EXPECT_EQ(from_s(*own, 101), 100);
  EXPECT_EQ(from_s(*own, 1'300), 100);
  EXPECT_EQ(from_s(*own, 1'301), 1'300);
  EXPECT_EQ(from_s(*own, 2'500), 1'300);
  EXPECT_EQ(from_s(*common, 1'200), 100);
  EXPECT_EQ(from_s(*common, 1'201), 1'200);
  EXPECT_EQ(from_s(*common, 2'400), 1'200);
}

TEST(Themis, RhoIsTheTimeInTheSystemOverThatOnAnNthOfTheCluster) {
  const auto policy = find_policy("themis").make({{"f", "0"}});
  policy->load({});
  // a: (100 + 100) / 100. b requests twice its part, so alone it would take 200 s: (50 + 100) / 200.
  const PolicyJobs jobs({waiting("a", 4, 0, 100 * kSecond), waiting("b", 8, 50 * kSecond, 100 * kSecond)}, 8);
  EXPECT_EQ(jobs.keys(*policy, 100 * kSecond), (Keys{worst(2'000'000), worst(750'000)}));
}

TEST(Themis, RhoIsRoundedDownAndLargeOnesSaturate) {
  const auto policy = find_policy("themis").make({{"f", "0"}});
  policy->load({});
  const PolicyJobs jobs({waiting("a", 1, 0, 3), waiting("b", 1, 0, 1), waiting("c", 1, 0, kMaxTimeUs)}, 8);
  // (4 + 3) / 3 = 2.333333; 2^58 + 1 and the largest value; two times 2^58 over 2^58.
  EXPECT_EQ(jobs.keys(*policy, 4), (Keys{worst(2'333'333), worst(5'000'000), worst(1'000'000)}));
  EXPECT_EQ(jobs.keys(*policy, kMaxTimeUs)[1], kClass);
}

TEST(Themis, OnlyTheWorstAreOfferedAndTheOthersTakeWhatIsLeft) {
  std::vector<PolicyJob> five;
  for (int i = 0; i < 5; ++i) five.push_back(waiting(std::string(1, static_cast<char>('a' + i)), 1, i * kSecond, 10 * kSecond));
  const PolicyJobs jobs(five, 8);
  const auto classes = [&](const char* f) {
    const auto policy = find_policy("themis").make({{"f", f}});
    policy->load({});
    std::string text;
    for (const std::int64_t key : jobs.keys(*policy, 100 * kSecond)) text += std::to_string(key / kClass);
    return text;
  };
  EXPECT_EQ(classes("0.8"), "13333");
  EXPECT_EQ(classes("0.5"), "11133");  // ceil(2.5)
  EXPECT_EQ(classes("0"), "11111");
  EXPECT_EQ(classes("1"), "13333");  // never none
}

TEST(Themis, EqualRhoGoesBySubmitThenId) {
  const auto policy = find_policy("themis").make({{"f", "0.5"}});
  policy->load({});
  // All three 2.0: a waited 10 s of 10, b and c 20 s of 20.
  const PolicyJobs jobs({waiting("a", 1, 10, 10), waiting("c", 1, 0, 20), waiting("b", 1, 0, 20)}, 8);
  EXPECT_EQ(jobs.keys(*policy, 20), (Keys{left_over(2'000'000), worst(2'000'000), worst(2'000'000)}));
}

TEST(Themis, NoJobIsAskedWithinItsLease) {
  const auto policy = find_policy("themis").make({});
  PolicyState state;
  const auto keys = [&](TimeUs now, TimeUs assigned) {
    policy->load(state);
    const PolicyJobs jobs({running("r", 8, assigned, 10'000 * kSecond, 9'000 * kSecond), waiting("w", 8, 0, 100 * kSecond)}, 8);
    const Keys answer = jobs.keys(*policy, now);
    EXPECT_EQ(jobs.next_change(*policy, now)[1], kNever);
    policy->store(state);
    return std::pair(answer[0], jobs.next_change(*policy, now)[0]);
  };
  const TimeUs t0 = 100 * kSecond;
  EXPECT_EQ(keys(t0, t0), std::pair(std::int64_t{0}, t0 + kLease));
  EXPECT_EQ(keys(t0 + kLease - 1, t0), std::pair(std::int64_t{0}, t0 + kLease));
  EXPECT_TRUE(state.columns["lease_from_us"].empty());
  // The lease ends: r is not the worst and would keep what w does not take. It gets a new lease, also on a second call.
  EXPECT_EQ(keys(t0 + kLease, t0), std::pair(keeps((t0 + kLease + 9'000 * kSecond) / 20'000), t0 + 2 * kLease));
  EXPECT_EQ(state.columns["lease_from_us"].at("r"), t0 + kLease);
  EXPECT_EQ(keys(t0 + kLease, t0), std::pair(std::int64_t{0}, t0 + 2 * kLease));
  EXPECT_EQ(keys(t0 + 2 * kLease - 1, t0).first, 0);
  // Displaced, and started again later: its lease begins there.
  EXPECT_EQ(keys(t0 + 2 * kLease, t0 + kLease + 7), std::pair(std::int64_t{0}, t0 + 2 * kLease + 7));
}

TEST(Themis, CommonLeasesEndTogether) {
  const auto policy = find_policy("themis").make({{"leases", "common"}});
  policy->load({});
  const PolicyJobs jobs({running("a", 4, 10, 9'000 * kSecond, 8'000 * kSecond),
                         running("b", 4, kLease - 1, 9'000 * kSecond, 8'000 * kSecond), waiting("w", 8, 0, 100 * kSecond)},
                        8);
  EXPECT_EQ(jobs.next_change(*policy, kLease - 1), (Keys{kLease, kLease, kNever}));
  const Keys before = jobs.keys(*policy, kLease - 1), then = jobs.keys(*policy, kLease);
  EXPECT_EQ(before[0], 0);
  EXPECT_EQ(before[1], 0);
  EXPECT_EQ(then[0] / kClass, 2);
  EXPECT_EQ(then[1] / kClass, 2);
  EXPECT_EQ(then[2] / kClass, 1);
  EXPECT_EQ(jobs.next_change(*policy, kLease), (Keys{2 * kLease, 2 * kLease, kNever}));
}

TEST(Themis, WhatIsNotKnownComesLastAndItsLeaseHasEnded) {
  const auto policy = find_policy("themis").make({{"f", "0"}});
  policy->load({});
  PolicyJob unknown = waiting("u", 1, 0, kNever), seated = unknown;
  seated.id = "s";
  seated.running = true;
  const PolicyJobs jobs({unknown, seated, waiting("w", 1, 0, 10)}, 8);
  EXPECT_EQ(jobs.keys(*policy, 10), (Keys{left_over(-1), keeps(-1), worst(2'000'000)}));
}

// Without an estimate the run time is the attained service plus the remaining time.
TEST(Themis, RunTimeWithoutAnEstimateIsServiceAndWhatIsLeft) {
  const auto policy = find_policy("themis").make({{"f", "0"}});
  policy->load({});
  PolicyJob one = waiting("a", 2, 0, 60 * kSecond);
  one.estimate = kNever;
  one.attained_gpu_us = 80 * kSecond;
  EXPECT_EQ(PolicyJobs({one}, 8).keys(*policy, 140 * kSecond), (Keys{worst(2'000'000)}));
}

}  // namespace berth::themis_test
