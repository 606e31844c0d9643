#include <gtest/gtest.h>

#include <algorithm>

#include "host/policy/queue/gittins_table.hpp"
#include "tests/support/policy_jobs.hpp"
#include "tests/support/random.hpp"

namespace berth::gittins_test {
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

TEST(GittinsTable, FallsBelowABoundAtTheFirstStepWithSuchARank) {
  policy::GittinsTable table;
  table.build(kServices, 3);

  // Ranks 1/8 from 0, 2/7 from 1, 1/5 from 2, 0 from 4, 1/3 from 7, 0 from 10.
  const Keys below_a_quarter{2, 2, 4, 4, 10, 10, 10, 10, 10, 10, kNever, kNever};
  const Keys below_a_seventh{4, 4, 4, 4, 10, 10, 10, 10, 10, 10, kNever, kNever};
  const Keys at_all{1, 2, 4, 4, 7, 7, 7, 10, 10, 10, kNever, kNever};
  for (std::size_t i = 0; i < at_all.size(); ++i) {
    const auto a = static_cast<std::int64_t>(i);
    EXPECT_EQ(table.falls_below(a, kOne / 4), below_a_quarter[i]) << a;
    EXPECT_EQ(table.falls_below(a, kOne / 7), below_a_seventh[i]) << a;
    EXPECT_EQ(table.falls_below(a, kOne + 1), at_all[i]) << a;
    EXPECT_EQ(table.falls_below(a, 0), kNever) << a;
  }
}

TEST(GittinsTable, FallsBelowAsAWalkOverItsStepsDoes) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    test::Random random(seed);
    std::vector<std::int64_t> services;
    for (std::int32_t i = random.within(0, 40); i > 0; --i) services.push_back(random.within(0, 60));
    std::sort(services.begin(), services.end());
    policy::GittinsTable table;
    table.build(services, random.within(1, 20));

    for (std::int64_t a = 0; a < 65; ++a) {
      const std::int64_t bound = random.percent(10) ? 1 : table.rank(random.within(0, 65)) + random.within(0, 1);
      std::int64_t step = a + 1;
      while (step < 100 && (table.rank(step) >= bound || table.rank(step) == table.rank(step - 1))) ++step;
      ASSERT_EQ(table.falls_below(a, bound), step == 100 ? kNever : step) << "seed " << seed << " from " << a;
      const std::int64_t last = random.within(0, 65);
      ASSERT_EQ(table.falls_below(a, bound, last), step <= last ? step : kNever) << "seed " << seed << " from " << a << " to " << last;
    }
  }
}

TEST(GittinsTable, APointWithoutAChangeIsNoStep) {
  policy::GittinsTable table;
  // At 0 two of 1 + 3, at 1 one of 2: both a half.
  table.build(std::vector<std::int64_t>{1, 3}, 3);

  EXPECT_EQ(table.rank(0), kOne / 2);
  EXPECT_EQ(table.rank(1), kOne / 2);
  EXPECT_EQ(table.falls_below(0, kOne), 3);
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

TEST(Gittins, NextChangeIsTheFirstInstantBehindAWaitingJob) {
  const auto policy = find_policy("gittins").make({{"delta_gpu_s", "0.000003"}});
  policy->learn({kServices});
  // A job of rank 1/8 waits. Ranks are 1/5 from 2 and 0 from 4: 2 GPUs at 1 (2/7) reach 4 in 2 microseconds (5), 3 GPUs in 1.
  // Those at 8 (1/3) fall to 0 at 10. The one at 4 is behind already, and does not count until it is before again.
  const PolicyJobs jobs({job(2, 1, true), job(3, 1, true), job(1, 8, true), job(1, 4, true), job(2, 0, false)});

  EXPECT_EQ(jobs.next_change(*policy, 100), (Keys{102, 101, 102, kNever, kNever}));
  EXPECT_EQ(PolicyJobs({job(2, 3, true), job(2, 5, true), job(3, 4, true)}).keys(*policy), (Keys{-(kOne / 5), 0, 0}));
  EXPECT_EQ(PolicyJobs({job(2, 1, true), job(3, 1, true)}).next_change(*policy, 100), (Keys{kNever, kNever}));  // no job waits
}

// Of equal ranks the earlier job is first: 1/5 at 2 is behind a job that waits with 1/5 only where that one is earlier.
TEST(Gittins, AnEqualRankIsBehindAnEarlierJobAlone) {
  const auto policy = find_policy("gittins").make({{"delta_gpu_s", "0.000003"}});
  policy->learn({kServices});
  PolicyJob runs = job(1, 1, true), waits = job(1, 2, false);
  waits.submit = 7;
  for (const TimeUs submit : {6, 8}) {
    runs.submit = submit;
    EXPECT_EQ(PolicyJobs({runs, waits}).next_change(*policy, 100), (Keys{submit == 6 ? 103 : 101, kNever})) << submit;
  }
  runs.submit = 7;
  for (const char* id : {"i", "k"}) {
    runs.id = id;
    EXPECT_EQ(PolicyJobs({runs, waits}).next_change(*policy, 100), (Keys{runs.id == "i" ? 103 : 101, kNever})) << id;
  }
}

TEST(Gittins, WithoutHistoryAllJobsAreEqual) {
  const auto policy = find_policy("gittins").make({});
  policy->learn({});
  const PolicyJobs jobs({job(1, 0, true), job(1, 99, false)});

  EXPECT_EQ(jobs.keys(*policy), (Keys{0, 0}));
  EXPECT_EQ(jobs.next_change(*policy, 5), (Keys{kNever, kNever}));
}

}  // namespace berth::gittins_test
