// Pollux's search by hand: rows are the GPUs of a job on each node.

#include "host/policy/search/pollux_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace berth::policy::pollux_search_test {
namespace {

using Cells = std::vector<std::uint8_t>;
using Shapes = std::vector<std::pair<std::int32_t, double>>;  // GPUs, speed

/// Nodes of one type, jobs of the same shapes that have no GPUs yet and may have any.
PolluxProblem problem(std::int32_t jobs, std::vector<std::int32_t> node_gpus, const Shapes& shapes) {
  PolluxProblem p;
  p.n_jobs = jobs;
  p.n_nodes = static_cast<std::int32_t>(node_gpus.size());
  p.n_types = 1;
  p.node_gpus = std::move(node_gpus);
  p.node_type.assign(p.node_gpus.size(), 0);
  p.most_gpus.assign(to_index(jobs), 64);
  p.most_nodes.assign(to_index(jobs), 16);
  p.kept.assign(to_index(jobs), 1);
  p.current.assign(p.cells(), 0);
  p.shape_begin.push_back(0);
  for (std::int32_t j = 0; j < jobs; ++j) {
    for (const auto& [gpus, speed] : shapes) {
      p.shape_gpus.push_back(gpus);
      p.shape_speed.push_back(speed);
    }
    p.shape_begin.push_back(static_cast<std::int32_t>(p.shape_gpus.size()));
  }
  return p;
}

const Shapes kEach{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 8}};
const Shapes kDoubling{{1, 1}, {2, 1.9}, {4, 3.4}, {8, 5}};

Cells repaired(const PolluxProblem& p, Cells rows, const PolluxIndividual& who = {}) {
  PolluxRepair().apply(p, who, rows);
  return rows;
}

// 8 GPUs for two jobs: a fair share is 4, and a GPU is a quarter of a node.
TEST(PolluxSearch, FitnessIsAPowerMeanOfSpeedUpsOverAFairShare) {
  const PolluxProblem p = problem(2, {4, 4}, kDoubling);
  PolluxSearch search;

  const double x = 1.9 / 3.4 * 0.25, y = 0.25;
  EXPECT_DOUBLE_EQ(search.fitness_of(p, Cells{2, 0, 0, 4}), 2 / (1 / (x + 0.001) + 1 / (y + 0.001)));
  EXPECT_DOUBLE_EQ(search.fitness_of(p, Cells{0, 0, 0, 4}), 2 / (1 / 0.001 + 1 / (y + 0.001)));
  EXPECT_DOUBLE_EQ(search.fitness_of(p, Cells{3, 0, 0, 4}), search.fitness_of(p, Cells{2, 0, 0, 4}));  // like the next smaller shape
}

TEST(PolluxSearch, ARowOtherThanTheCurrentOneKeepsAPartOfItsSpeed) {
  PolluxProblem p = problem(1, {4, 4}, kDoubling);
  p.current = {4, 0};
  p.kept = {0.75};
  PolluxSearch search;

  EXPECT_DOUBLE_EQ(search.fitness_of(p, Cells{4, 0}), 3.4 / 5 * 0.25 + 0.001);
  EXPECT_DOUBLE_EQ(search.fitness_of(p, Cells{0, 4}), 3.4 / 5 * 0.25 * 0.75 + 0.001);
  EXPECT_DOUBLE_EQ(search.fitness_of(p, Cells{2, 0}), 1.9 / 5 * 0.25 * 0.75 + 0.001);
}

// A fair share of 2 is less than the smallest shape of the second type: the speed on the first type is used.
TEST(PolluxSearch, AFairShareIsOnTheTypeThatIsTheQuickest) {
  PolluxProblem p = problem(1, {1, 1}, {});
  p.n_types = 2;
  p.node_type = {0, 1};
  p.shape_begin = {0, 2, 3};
  p.shape_gpus = {1, 2, 3};
  p.shape_speed = {1, 1.5, 4};
  PolluxSearch search;
  EXPECT_DOUBLE_EQ(search.speed_up(p, 0, 1, 3), 4 / 1.5);
  p.shape_gpus = {1, 2, 2};
  EXPECT_DOUBLE_EQ(search.speed_up(p, 0, 0, 1), 1 / 4.0);
  p.shape_speed = {1, 9, 4};
  EXPECT_DOUBLE_EQ(search.speed_up(p, 0, 0, 1), 1 / 9.0);
  p.shape_gpus = {5, 6, 4};  // none is that small: the smallest
  EXPECT_DOUBLE_EQ(search.speed_up(p, 0, 0, 5), 1 / 4.0);
}

TEST(PolluxRepair, OnlyTheFirstJobOnSeveralNodesStaysOnANode) {
  const PolluxProblem p = problem(4, {8, 8, 8}, kEach);

  // The third loses both its nodes; the fourth is on one node, and stays.
  EXPECT_EQ(repaired(p, {1, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0}), (Cells{1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}));
}

TEST(PolluxRepair, ARowHasNoMoreGpusAndNodesThanItMay) {
  PolluxProblem p = problem(1, {8, 8, 8}, kEach);
  p.most_gpus = {5};
  const std::vector<Cells> allowed{{5, 0, 0}, {0, 5, 0}, {0, 0, 5}};
  std::vector<Cells> seen;
  for (std::int32_t i = 0; i < 20; ++i) {
    const Cells row = repaired(p, {6, 6, 6}, {7, 0, i});
    EXPECT_NE(std::find(allowed.begin(), allowed.end(), row), allowed.end());
    if (std::find(seen.begin(), seen.end(), row) == seen.end()) seen.push_back(row);
  }
  EXPECT_EQ(seen.size(), 3U);  // the order of the nodes is shuffled

  p.most_gpus = {8};
  p.most_nodes = {2};
  for (std::int32_t i = 0; i < 20; ++i) {
    const Cells row = repaired(p, {2, 2, 2}, {7, 0, i});
    EXPECT_EQ(std::count(row.begin(), row.end(), 2), 2);
    EXPECT_EQ(std::count(row.begin(), row.end(), 0), 1);
  }
}

TEST(PolluxRepair, WhatIsBeyondANodeGoesFromTheLastJobs) {
  const PolluxProblem p = problem(3, {8}, kEach);
  EXPECT_EQ(repaired(p, {5, 2, 4}), (Cells{5, 2, 1}));
  EXPECT_EQ(repaired(p, {8, 2, 4}), (Cells{8, 0, 0}));
}

TEST(PolluxRepair, ARowIsCutToItsLargestShapeAndBelowTheSmallestToNothing) {
  const PolluxProblem p = problem(2, {8, 8}, {{2, 1}, {4, 2}});
  EXPECT_EQ(repaired(p, {3, 4, 0, 1}), (Cells{3, 1, 0, 0}));
}

// Two of the first type, three of the second; a third type without a shape.
TEST(PolluxRepair, AJobKeepsTheTypeOfWhichItHasMost) {
  PolluxProblem p = problem(1, {8, 8, 8, 8}, {});
  p.n_types = 3;
  p.node_type = {0, 1, 1, 2};
  p.shape_begin = {0, 2, 5, 5};
  p.shape_gpus = {1, 2, 1, 2, 3};
  p.shape_speed = {1, 1, 1, 1, 1};
  EXPECT_EQ(repaired(p, {2, 1, 2, 8}), (Cells{0, 1, 2, 0}));
  EXPECT_EQ(repaired(p, {2, 1, 1, 8}), (Cells{2, 0, 0, 0}));
  EXPECT_EQ(repaired(p, {0, 0, 0, 8}), (Cells{0, 0, 0, 0}));
}

TEST(PolluxRepair, WhereAJobHasNoShapeItBlocksNoOther) {
  PolluxProblem p = problem(2, {8, 8}, kEach);
  p.shape_begin = {0, 0, 8};
  EXPECT_EQ(repaired(p, {1, 1, 1, 1}), (Cells{0, 0, 1, 1}));
}

TEST(PolluxVariation, JobsBeforeTheCutAreOfTheOneParent) {
  const PolluxProblem p = problem(3, {8, 8}, kEach);
  Cells child(6);
  cross_rows(p, Cells{1, 2, 3, 4, 5, 6}, Cells{7, 8, 7, 8, 7, 8}, 1, child);
  EXPECT_EQ(child, (Cells{1, 2, 7, 8, 7, 8}));
}

/// Rows of one job after one mutation each, over many individuals.
std::vector<Cells> mutated(const PolluxProblem& p, const Cells& rows) {
  std::vector<Cells> all(2'000, rows);
  PolluxMutation mutation;
  for (std::size_t i = 0; i < all.size(); ++i) mutation.apply(p, {1, 0, static_cast<std::int32_t>(i)}, all[i]);
  return all;
}

// Four empty nodes of two: each is selected with a chance of 1/4, and then gets 0, 1 or 2 with equal chance.
TEST(PolluxVariation, AJobGrowsOnOneNodeWithRoomOnAverage) {
  const PolluxProblem p = problem(1, {2, 2, 2, 2}, kEach);
  int count[3] = {};
  for (const Cells& row : mutated(p, {0, 0, 0, 0})) {
    for (const std::uint8_t here : row) ++count[here];
  }
  EXPECT_NEAR(count[1], 8'000 / 4 / 3, 60);
  EXPECT_NEAR(count[2], 8'000 / 4 / 3, 60);
}

// A node that the second job fills, and one where the first has 2 of 4: it gets 2, 3 or 4 there with equal chance.
// Except for one row in a hundred, which is thinned, it does not enter the other.
TEST(PolluxVariation, AFullNodeIsOnlyForItsOwnJobs) {
  PolluxProblem p = problem(2, {4, 4}, kEach);
  p.current = {0, 2, 4, 0};
  int entered = 0, three = 0, four = 0;
  for (const Cells& rows : mutated(p, {0, 2, 4, 0})) {
    entered += rows[0] > 0 ? 1 : 0;
    three += rows[1] == 3 ? 1 : 0;
    four += rows[1] == 4 ? 1 : 0;
  }
  EXPECT_LT(entered, 40);
  EXPECT_NEAR(three, 2'000 / 3, 60);
  EXPECT_NEAR(four, 2'000 / 3, 60);
}

// One of two jobs that have a GPU each may have two.
TEST(PolluxVariation, GrowthDisplacesNoJob) {
  PolluxProblem p = problem(2, {4}, kEach);
  p.current = {1, 1};
  p.most_gpus = {2, 64};
  int full = 0;
  for (const Cells& rows : mutated(p, {1, 1})) {
    EXPECT_LE(rows[0], 2);
    EXPECT_LE(rows[0] + rows[1], 4);
    full += rows[0] + rows[1] == 4 ? 1 : 0;
  }
  EXPECT_NEAR(full, 2'000 * (1 / 2.0 / 3 + 1 / 2.0 / 2), 80);
}

// The second job fills all nodes, so the first is on all of them only where it was reset to its current GPUs.
TEST(PolluxVariation, OneRowInTenBecomesWhatTheJobHas) {
  PolluxProblem p = problem(2, {2, 2, 2, 2}, kEach);
  p.current = {1, 1, 1, 1, 2, 2, 2, 2};
  int reset = 0;
  for (const Cells& rows : mutated(p, {0, 0, 0, 0, 2, 2, 2, 2})) reset += std::count(rows.begin(), rows.begin() + 4, 0) == 0 ? 1 : 0;
  EXPECT_NEAR(reset, 200, 40);
}

TEST(PolluxVariation, OneRowInTenIsThinnedByOneEntryInTen) {
  const PolluxProblem p = problem(1, std::vector<std::int32_t>(16, 1), kEach);
  PolluxProblem full = p;
  full.current.assign(16, 1);
  std::int64_t gone = 0;
  for (const Cells& row : mutated(full, Cells(16, 1))) gone += std::count(row.begin(), row.end(), 0);
  EXPECT_NEAR(static_cast<double>(gone), 2'000 * 16 / 100.0, 80);
}

// Three jobs on 8 GPUs: with speeds 1, 1.9, 3.4 and 5 the best power mean has 2, 2 and 4 GPUs.
TEST(PolluxSearch, FindsTheFittestOfASmallCluster) {
  const PolluxProblem p = problem(3, {4, 4}, kDoubling);
  PolluxSearch search;
  const ConstPolluxRows rows = search.solve(p, {100, 100}, 1);

  std::vector<int> gpus{rows[0] + rows[1], rows[2] + rows[3], rows[4] + rows[5]};
  std::sort(gpus.begin(), gpus.end());
  EXPECT_EQ(gpus, (std::vector<int>{2, 2, 4}));
}

TEST(PolluxSearch, BeginsWithWhatRunsAndNeverLosesTheFittest) {
  PolluxProblem p = problem(6, {4, 4, 4, 4}, kDoubling);
  std::copy_n(Cells{2, 0, 0, 0, 0, 1, 0, 0}.begin(), 8, p.current.begin());
  PolluxSearch search;
  const ConstPolluxRows first = search.solve(p, {10, 0}, 3);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), p.current.begin()));

  double before = search.fitness_of(p, p.current);
  for (const std::int32_t generations : {1, 2, 4, 8, 16, 32}) {
    const ConstPolluxRows rows = search.solve(p, {10, generations}, 3);
    const Cells best(rows.begin(), rows.end());
    const double now = search.fitness_of(p, best);
    EXPECT_GE(now, before);
    EXPECT_EQ(repaired(p, best), best);
    before = now;
  }
  EXPECT_GT(before, search.fitness_of(p, p.current));
}

TEST(PolluxSearch, IsAFunctionOfItsSeed) {
  const PolluxProblem p = problem(12, {8, 8, 8}, kDoubling);
  PolluxSearch one, other;
  const auto answer = [&](PolluxSearch& search, std::uint64_t seed) {
    const ConstPolluxRows rows = search.solve(p, {20, 5}, seed);
    return Cells(rows.begin(), rows.end());
  };
  const Cells first = answer(one, 1);
  EXPECT_NE(answer(one, 2), first);
  EXPECT_EQ(answer(one, 1), first);
  EXPECT_EQ(answer(other, 1), first);
}

TEST(PolluxSearch, AnswersWithoutJobsOrNodes) {
  PolluxSearch search;
  EXPECT_TRUE(search.solve(problem(0, {8}, kEach), {}, 1).empty());
  EXPECT_TRUE(search.solve(problem(2, {}, kEach), {}, 1).empty());
}

}  // namespace
}  // namespace berth::policy::pollux_search_test
