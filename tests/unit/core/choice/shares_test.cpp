// docs/shares.md by hand: the program.

#include "host/core/choice/share_search.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace berth::core::shares_test {
namespace {

struct OneJob {
  std::vector<double> gpus, speed;
  double need = 1, waited = 0;
};

ShareProblem problem_of(std::vector<double> capacity, const std::vector<OneJob>& jobs) {
  ShareProblem p;
  p.n_jobs = static_cast<std::int32_t>(jobs.size());
  p.n_types = static_cast<std::int32_t>(capacity.size());
  p.capacity = std::move(capacity);
  for (const OneJob& job : jobs) {
    p.gpus.insert(p.gpus.end(), job.gpus.begin(), job.gpus.end());
    p.speed.insert(p.speed.end(), job.speed.begin(), job.speed.end());
    p.need.push_back(job.need);
    p.waited.push_back(job.waited);
  }
  return p;
}

Shares solve(const ShareProblem& p) { return ShareSearch().solve(p, 1e-6, 1'000); }

void expect_near(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5) << i;
}

TEST(Shares, AreEqualForEqualJobs) {
  const Shares s = solve(problem_of({1}, {{{1}, {1}}, {{1}, {1}}}));

  EXPECT_NEAR(s.level, 0.5, 1e-6);
  EXPECT_NEAR(s.bound, 0.5, 1e-6);
  expect_near(s.share, {0.5, 0.5});
}

// Each on the type that suits it.
TEST(Shares, PutJobsWhereTheyAreQuick) {
  const Shares s = solve(problem_of({1, 1}, {{{1, 1}, {2, 1}}, {{1, 1}, {1, 2}}}));

  EXPECT_NEAR(s.level, 2, 1e-5);
  expect_near(s.share, {1, 0, 0, 1});
}

// Only the first job can use type 0. With x of type 1 it has 1 - x left for that: (1 - x) + 2 x = 4 (1 - x) at x = 3/5.
TEST(Shares, AreWhatAJobCanUseOfItsTime) {
  const Shares s = solve(problem_of({1, 1}, {{{1, 1}, {1, 2}}, {{1, 1}, {0, 4}}}));

  EXPECT_NEAR(s.level, 1.6, 1e-5);
  expect_near(s.share, {0.4, 0.6, 0, 0.4});
}

// Both types are equally fast; the second job can only use type 1, which therefore has the higher price.
TEST(Shares, AreOfTheCheaperTypeWhereSpeedsAreEqual) {
  const Shares s = solve(problem_of({1, 1}, {{{1, 1}, {1, 1}}, {{1, 1}, {0, 1}}}));

  EXPECT_NEAR(s.level, 1, 1e-5);
  expect_near(s.share, {1, 0, 0, 1});
}

TEST(Shares, OfAJobAreAtMostItsTime) {
  const Shares s = solve(problem_of({10}, {{{1}, {3}}}));

  EXPECT_DOUBLE_EQ(s.level, 3);
  EXPECT_DOUBLE_EQ(s.bound, 3);
  expect_near(s.share, {1});
}

// 4 GPUs for half of the time cost as much as 2 for all of it.
TEST(Shares, CountGpus) {
  const Shares s = solve(problem_of({4}, {{{4}, {1}}, {{4}, {1}}}));

  expect_near(s.share, {0.5, 0.5});
}

// Twice the need is twice the speed at the same level.
TEST(Shares, FollowNeeds) {
  const Shares s = solve(problem_of({1}, {{{1}, {1}, 2}, {{1}, {1}, 1}}));

  EXPECT_NEAR(s.level, 1.0 / 3, 1e-6);
  expect_near(s.share, {2.0 / 3, 1.0 / 3});
}

// v / (1 + 2 v) = 1 - v where 2 v^2 = 1.
TEST(Shares, GiveMoreToJobsThatHaveWaited) {
  const Shares s = solve(problem_of({1}, {{{1}, {1}, 1, 2}, {{1}, {1}, 1, 0}}));

  EXPECT_NEAR(s.share[0], 0.70710678, 1e-5);
  EXPECT_NEAR(s.share[1], 0.29289322, 1e-5);
  EXPECT_NEAR(s.level, 0.29289322, 1e-5);
}

TEST(Shares, LeaveOutJobsThatCanRunNowhere) {
  const Shares s = solve(problem_of({1}, {{{1}, {0}}, {{1}, {1}}}));

  EXPECT_DOUBLE_EQ(s.level, 1);
  expect_near(s.share, {0, 1});
}

TEST(Shares, OfNothingAreNothing) {
  EXPECT_EQ(solve(problem_of({1, 1}, {})).level, 0);
  EXPECT_EQ(solve(problem_of({1}, {{{1}, {0}}})).bound, 0);
}

TEST(Shares, AreBoundByAnyPrices) {
  const ShareProblem p = problem_of({1, 1}, {{{1, 1}, {1, 2}}, {{1, 1}, {0, 4}}});
  const Shares s = solve(p);

  EXPECT_NEAR(level_bound(p, s.price), s.bound, 1e-12);
  for (const std::vector<double>& price : std::vector<std::vector<double>>{{1, 0}, {0, 1}, {1, 1}, {1, 5}}) {
    EXPECT_GE(level_bound(p, price), 1.6 - 1e-9);
  }
}

// Almost no need on a large cluster, by jobs that have waited for ever.
TEST(Shares, AreNumbersWhateverTheNumbersAre) {
  for (const double need : {1e-9, 1.0, 1e9}) {
    for (const double waited : {0.0, 1.0, 1e9, 1e15}) {
      const Shares s = solve(problem_of({65'536, 8'192, 0}, {{{1, 1, 1}, {1, 2, 0}, need, waited}, {{8, 1, 1}, {1e-6, 1e6, 0}, 1, 0}}));

      EXPECT_GT(s.level, 0);
      EXPECT_LE(s.bound, s.level * (1 + 1.1e-6));
      EXPECT_LE(s.rounds, 50);
      for (const double one : s.share) EXPECT_TRUE(one >= 0 && one <= 1 + 1e-9) << one;
    }
  }
}

TEST(Shares, StandWhenTheSearchIsCutShort) {
  const ShareProblem p = problem_of({1, 1}, {{{1, 1}, {1, 2}}, {{1, 1}, {0, 4}}});
  const Shares s = ShareSearch().solve(p, 0, 1);

  EXPECT_EQ(s.rounds, 1);
  EXPECT_LE(s.level, 1.6 + 1e-9);
  EXPECT_GE(s.bound, 1.6 - 1e-9);
  EXPECT_GT(s.level, 0);
}

}  // namespace
}  // namespace berth::core::shares_test
