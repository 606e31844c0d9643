#include <gtest/gtest.h>

#include "host/policy/queue/gittins_table.hpp"
#include "tests/support/policy_jobs.hpp"

namespace berth {
namespace {

using core::find_policy;
using testing::PolicyJob;
using testing::PolicyJobs;
using Keys = std::vector<std::int64_t>;

constexpr std::int64_t kOne = std::int64_t{1} << 62;

// Services 2, 4, 10 and delta 3:
//   a = 0  2 ends within 3;      expected min(S, 3): 2 + 3 + 3      rank 1/8
//   a = 1  2 and 4 end;          1 + 3 + 3                          rank 2/7
//   a = 2  4 ends (S > 2 only);  2 + 3                              rank 1/5
//   a = 4  10 is farther than 3;                                    rank 0
//   a = 7  10 ends;              3                                  rank 1/3
//   a = 10 beyond the data                                          rank 0
const std::vector<std::int64_t> kServices{2, 4, 10};

PolicyJob job(std::int32_t gpus, std::int64_t attained, bool running) {
  PolicyJob one;
  one.gpus = gpus;
  one.attained_gpu_us = attained;
  one.running = running;
  return one;
}

}  // namespace

TEST(GittinsTable, HoldsTheRanksWorkedByHand) {
  policy::GittinsTable table;
  table.build(kServices, 3);

  const std::vector<std::int64_t> expected{kOne / 8, kOne / 7 * 2, kOne / 5, kOne / 5, 0, 0, 0, kOne / 3, kOne / 3, kOne / 3, 0, 0};
  for (std::size_t a = 0; a < expected.size(); ++a) {
    // floor(2 * 2^62 / 7) may be one more than 2 * floor(2^62 / 7).
    EXPECT_EQ(table.rank(static_cast<std::int64_t>(a)), a == 1 ? (kOne / 7 * 2 + (kOne % 7 * 2) / 7) : expected[a]) << a;
  }
}

TEST(GittinsTable, StepsAreWhereTheRankChanges) {
  policy::GittinsTable table;
  table.build(kServices, 3);

  const Keys expected{1, 2, 4, 4, 7, 7, 7, 10, 10, 10, kNever, kNever};
  for (std::size_t a = 0; a < expected.size(); ++a) EXPECT_EQ(table.next_step(static_cast<std::int64_t>(a)), expected[a]) << a;
}

TEST(GittinsTable, APointWithoutAChangeIsNoStep) {
  policy::GittinsTable table;
  // At 0 two of 1 + 3, at 1 one of 2: both a half.
  table.build(std::vector<std::int64_t>{1, 3}, 3);

  EXPECT_EQ(table.rank(0), kOne / 2);
  EXPECT_EQ(table.rank(1), kOne / 2);
  EXPECT_EQ(table.next_step(0), 3);
}

TEST(GittinsTable, EqualServicesAndHugeOnesStayExact) {
  policy::GittinsTable table;
  const std::vector<std::int64_t> services{0, 5, 5, kNever, kNever};
  table.build(services, kMaxTimeUs);

  // Of the four above 0 two end; 5 + 5 + 2 * 2^58.
  EXPECT_EQ(table.rank(0), 15);
  // Beyond 5, two are left and farther than delta.
  EXPECT_EQ(table.rank(5), 0);
  // Within delta of the end both end: 2 of 2 * 2^58, constant from there on.
  EXPECT_EQ(table.rank(kNever - kMaxTimeUs - 1), 0);
  EXPECT_EQ(table.rank(kNever - kMaxTimeUs), 16);
  EXPECT_EQ(table.rank(kNever - 1), 16);
  EXPECT_EQ(table.rank(kNever), 0);
}

TEST(Gittins, KeyIsMinusTheRank) {
  const auto policy = find_policy("gittins").make({{"delta_gpu_s", "0.000003"}});
  policy->learn({kServices});

  EXPECT_EQ(PolicyJobs({job(1, 0, false), job(1, 3, true), job(1, 7, false), job(1, 99, true)}).keys(*policy),
            (Keys{-kOne / 8, -(kOne / 5), -(kOne / 3), 0}));
}

TEST(Gittins, NextChangeIsTheFirstInstantAtTheNextStep) {
  const auto policy = find_policy("gittins").make({{"delta_gpu_s", "0.000003"}});
  policy->learn({kServices});
  // 2 GPUs at 4 reach 7 in 2 microseconds (8), not in 1 (6); 3 GPUs at 4 reach exactly 7 in 1.
  const PolicyJobs jobs({job(2, 4, true), job(3, 4, true), job(1, 10, true), job(2, 4, false)});

  EXPECT_EQ(jobs.next_change(*policy, 100), (Keys{102, 101, kNever, kNever}));
  EXPECT_EQ(PolicyJobs({job(2, 6, true), job(3, 7, true), job(2, 8, true)}).keys(*policy), (Keys{0, -(kOne / 3), -(kOne / 3)}));
}

TEST(Gittins, WithoutHistoryAllJobsAreEqual) {
  const auto policy = find_policy("gittins").make({});
  policy->learn({});
  const PolicyJobs jobs({job(1, 0, true), job(1, 99, false)});

  EXPECT_EQ(jobs.keys(*policy), (Keys{0, 0}));
  EXPECT_EQ(jobs.next_change(*policy, 5), (Keys{kNever, kNever}));
}

}  // namespace berth
