#include "host/reference/ones/reorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "tests/support/random.hpp"
#include "tests/support/random_ones.hpp"

/// docs/ones.md, section 6.
namespace berth::test::ones_reorder_test {
namespace {

using reference::ones_cost;
using reference::OnesBlockList;
using reference::OnesCounts;
using reference::reorder_ones;

std::vector<std::int32_t> firsts(const OnesBlockList& blocks) {
  std::vector<std::int32_t> all;
  for (const auto& block : blocks) all.push_back(block.count > 0 ? block.first : -1);
  return all;
}

// The job on each GPU; -1: none.
std::vector<int> job_on_each_gpu(std::int32_t n_gpus, const OnesBlockList& blocks) {
  std::vector<int> job(static_cast<std::size_t>(n_gpus), -1);
  for (std::size_t j = 0; j < blocks.size(); ++j) {
    for (std::int32_t x = 0; x < blocks[j].count; ++x) job.at(static_cast<std::size_t>(blocks[j].first + x)) = static_cast<int>(j);
  }
  return job;
}

// The published dynamic program alone: its cost, if it finds a solution.
std::optional<int> cost_as_published(std::int32_t n_gpus, const OnesBlockList& deployed, const OnesCounts& counts) {
  constexpr int kNone = 1'000'000;
  const std::vector<int> owner = job_on_each_gpu(n_gpus, deployed);
  const auto n = static_cast<int>(std::count_if(counts.begin(), counts.end(), [](std::int32_t count) { return count > 0; }));
  struct State {
    int cost = kNone;
    std::vector<int> list;
  };
  std::vector<std::vector<State>> f(static_cast<std::size_t>(n_gpus) + 1, std::vector<State>(static_cast<std::size_t>(n) + 1));
  f[0][0].cost = 0;
  for (int i = 1; i <= n_gpus; ++i) {
    for (int k = 0; k <= n; ++k) {
      State& state = f[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)];
      state = f[static_cast<std::size_t>(i) - 1][static_cast<std::size_t>(k)];
      for (int j = 0; k > 0 && j < static_cast<int>(counts.size()); ++j) {
        const int begin = i - counts[static_cast<std::size_t>(j)];
        if (begin < 0 || begin == i) continue;
        const State& from = f[static_cast<std::size_t>(begin)][static_cast<std::size_t>(k) - 1];
        if (from.cost == kNone || std::find(from.list.begin(), from.list.end(), j) != from.list.end()) continue;
        int cost = from.cost;
        for (int x = begin; x < i; ++x) {
          const int now = owner[static_cast<std::size_t>(x)];
          if (now != -1 && now != j) ++cost;
        }
        if (cost >= state.cost) continue;
        state.cost = cost;
        state.list = from.list;
        state.list.push_back(j);
      }
    }
  }
  const int cost = f[static_cast<std::size_t>(n_gpus)][static_cast<std::size_t>(n)].cost;
  return cost == kNone ? std::nullopt : std::optional(cost);
}

struct Case {
  std::int32_t n_gpus;
  OnesBlockList deployed;
  OnesCounts counts;
};

// Blocks of a random problem, and counts that fit.
Case random_case(std::uint64_t seed, std::int32_t n_gpus) {
  Random random(seed);
  RandomOnesSpec spec;
  spec.n_gpus = n_gpus;
  spec.jobs = random.within(0, 10);
  spec.most_gpus = random.of<std::int32_t>({3, 6, 64});
  spec.gap_percent = random.of<std::int32_t>({0, 20});
  const OnesProblem problem = random_ones(seed, spec);
  Case one{n_gpus, {}, OnesCounts(static_cast<std::size_t>(spec.jobs), 0)};
  for (std::size_t j = 0; j < one.counts.size(); ++j) one.deployed.push_back({problem.deployed_first[j], problem.deployed_count[j]});
  std::int32_t left = n_gpus;
  for (std::size_t j = 0; j < one.counts.size(); ++j) {
    const std::int32_t most = std::min(left, random.percent(70) ? 4 : n_gpus);
    one.counts[j] = random.percent(20) ? std::min(left, one.deployed[j].count) : random.within(0, most);
    left -= one.counts[j];
  }
  return one;
}

}  // namespace

// Where other jobs run: 2 of job 0's GPUs, 1 of job 1's; free GPUs and a job's own cost nothing.
TEST(OnesReorder, CostIsWhatOthersHadDeployed) {
  EXPECT_EQ(ones_cost({{0, 3}, {4, 4}}, {{3, 3}, {2, 2}}), 2 + 1);
  EXPECT_EQ(ones_cost({{0, 3}, {1, 0}}, {{0, 3}, {3, 1}}), 0);
}

// In order, the new job would be at 4, which is equally good, but comes second.
TEST(OnesReorder, StayingIsFirst) {
  EXPECT_EQ(firsts(reorder_ones(6, {{2, 2}, {0, 0}}, {2, 1})), (std::vector{2, 0}));
  EXPECT_EQ(firsts(reorder_ones(9, {{0, 0}, {2, 2}, {0, 0}}, {1, 2, 2})), (std::vector{6, 2, 4}));  // of 0..1 and 4..8
  EXPECT_EQ(firsts(reorder_ones(20, {{0, 0}, {9, 2}}, {2, 2})), (std::vector{0, 9}));               // of 9 and 9, the lower one
}

// Job 0 has no run of 3 and takes a GPU of job 1, which moves; job 2 need not. As published it would be at 5, which is
// equally good.
TEST(OnesReorder, LaidInOrderJobsBeginWhereTheyAreIfTheyCan) {
  EXPECT_EQ(firsts(reorder_ones(9, {{0, 2}, {2, 2}, {6, 2}}, {3, 2, 2})), (std::vector{0, 3, 6}));
}

// Job 0 grew, and there is no run of 3: all move. GPUs 2 and 4 change jobs.
TEST(OnesReorder, WithoutRoomAllAreLaidInOrder) {
  for (const std::int32_t n_gpus : {6, 66}) {
    OnesBlockList deployed{{0, 2}, {2, 2}, {4, 2}};
    OnesCounts counts{3, 2, 1};
    if (n_gpus > 16) {  // the same after 60 GPUs whose job stays
      for (auto& block : deployed) block.first += 60;
      deployed.push_back({0, 60});
      counts.push_back(60);
    }
    const OnesBlockList blocks = reorder_ones(n_gpus, deployed, counts);
    EXPECT_EQ(ones_cost(deployed, blocks), 2);
    EXPECT_EQ(blocks[0].first, n_gpus - 6);
    EXPECT_EQ(blocks[1].first, n_gpus - 3);
    EXPECT_EQ(blocks[2].first, n_gpus - 1);
  }
}

// Staying puts job 1 first, at 0, and job 0 on 3 of its GPUs; move 0 puts it after job 0.
TEST(OnesReorder, MovesRepairWhatTheBeginningDoesNotSee) {
  const OnesBlockList deployed{{0, 0}, {4, 4}, {8, 4}, {12, 6}};
  EXPECT_EQ(firsts(reorder_ones(18, deployed, {3, 5, 4, 6})), (std::vector{0, 3, 8, 12}));
}

// In order (0, 1, 2) job 1 is on a GPU of job 0, as the new job comes after both. Before both it conflicts with none;
// exchanges of two places do not reach that.
TEST(OnesReorder, BlocksAreTakenOutAndPutInElsewhere) {
  const OnesBlockList deployed{{1, 8}, {9, 2}, {0, 0}};
  EXPECT_EQ(firsts(reorder_ones(17, deployed, {5, 8, 1})), (std::vector{1, 9, 0}));
}

// All grew or are new: 1, 0, 2, with a GPU of job 2 for job 1. 2, 1, 0 (move 2) and 2, 0, 1 (move 12) cost nothing.
TEST(OnesReorder, FirstOfEqualMovesIsTaken) {
  const OnesBlockList deployed{{0, 0}, {0, 1}, {1, 1}};
  EXPECT_EQ(firsts(reorder_ones(17, deployed, {5, 9, 2})), (std::vector{12, 3, 1}));
}

// Both grew and job 1 is new. In order (0, 2, 1) 4 GPUs change jobs; taking any block out and inserting it elsewhere
// makes it 5 or more. When the outer two change places it is 2 of job 0 for the new one and the third for job 2.
TEST(OnesReorder, BlocksChangePlaces) {
  const OnesBlockList deployed{{0, 3}, {0, 0}, {3, 7}};
  EXPECT_EQ(firsts(reorder_ones(17, deployed, {7, 2, 8})), (std::vector{10, 0, 2}));
}

TEST(OnesReorder, OfNothingIsNothing) {
  EXPECT_TRUE(reorder_ones(4, {}, {}).empty());
  EXPECT_EQ(firsts(reorder_ones(4, {{1, 2}, {0, 0}}, {0, 0})), (std::vector{-1, -1}));
  EXPECT_EQ(firsts(reorder_ones(1, {{0, 1}, {0, 0}}, {0, 1})), (std::vector{-1, 0}));
}

TEST(OnesReorder, NeverMovesMoreThanThePublishedProgram) {
  std::int32_t found = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    const Case one = random_case(seed, static_cast<std::int32_t>(1 + seed % 16));
    const OnesBlockList blocks = reorder_ones(one.n_gpus, one.deployed, one.counts);
    const std::optional<int> published = cost_as_published(one.n_gpus, one.deployed, one.counts);
    if (!published) continue;
    ++found;
    ASSERT_LE(ones_cost(one.deployed, blocks), *published) << "seed " << seed;
  }
  EXPECT_GT(found, 3000);
}

TEST(OnesReorder, BlocksAreDisjointAndOfTheirCounts) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Case one = random_case(seed, static_cast<std::int32_t>(1 + seed % 50));
    const OnesBlockList blocks = reorder_ones(one.n_gpus, one.deployed, one.counts);
    const std::vector<int> owner = job_on_each_gpu(one.n_gpus, blocks);
    for (std::size_t j = 0; j < blocks.size(); ++j) {
      ASSERT_EQ(blocks[j].count, one.counts[j]) << "seed " << seed;
      ASSERT_EQ(std::count(owner.begin(), owner.end(), static_cast<int>(j)), one.counts[j]) << "seed " << seed;
    }
  }
}

TEST(OnesReorder, JobsStayWhereNothingChanged) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Case one = random_case(seed, static_cast<std::int32_t>(1 + seed % 50));
    OnesCounts counts;
    for (const auto& block : one.deployed) counts.push_back(block.count);
    const OnesBlockList blocks = reorder_ones(one.n_gpus, one.deployed, counts);
    ASSERT_EQ(firsts(blocks), firsts(one.deployed)) << "seed " << seed;
    ASSERT_EQ(ones_cost(one.deployed, blocks), 0) << "seed " << seed;
  }
}

}  // namespace berth::test::ones_reorder_test
