#include <gtest/gtest.h>

#include "tests/reference/solve.hpp"

/// Section 9 of docs/placement.md.
namespace berth::test::score_test {

using kernel::CandidateRow;

// "score (time leftover) option@where", or "-".
std::string brief(const CandidateRow& c) {
  if (c.option == kernel::kNone) return "-";
  return std::to_string(c.score) + " (" + std::to_string(c.gpu_time_ms) + " " + std::to_string(c.leftover) + ") " +
         std::to_string(c.option) + "@" + std::to_string(c.where);
}

Lines solve(const Problem& problem, std::int32_t topology, std::int32_t level, std::int64_t weight, const std::vector<TimeUs>& run,
            std::int32_t k, const std::vector<std::int64_t>& cost = {}) {
  std::vector<std::int32_t> jobs;
  for (std::int32_t j = 0; j < problem.n_jobs(); ++j) jobs.push_back(j);
  kernel::ScoreQuery request{};
  request.n = problem.n_jobs();
  request.jobs = jobs.data();
  request.option_run = run.data();
  request.topology = topology;
  request.level = level;
  request.leftover_weight = weight;
  request.domain_cost = cost.empty() ? nullptr : cost.data();
  request.k = k;
  Lines lines;
  for (const CandidateRow& c : score(*core::make_reference_backend(), problem, request)) lines.push_back(brief(c));
  return lines;
}

// free 2 4 2 1: two GPUs for 3 s are 6000 GPU-ms; 10 more for each GPU left.
TEST(Score, TiesFallToTheLowerNodeAndMissingOnesAreNone) {
  ProblemBuilder b;
  b.rack("", {2, 4, 2, 1});
  b.gang(2);
  b.gang(5);

  EXPECT_EQ(solve(b.build(), 0, 0, 10, {3 * kSecond, kSecond}, 4),
            (Lines{"6000 (6000 0) 0@0", "6000 (6000 0) 0@2", "6020 (6000 2) 0@1", "-", "-", "-", "-", "-"}));
}

// Options: 1 GPU for 4 s or 2 GPUs for 2 s, both 4000; ties go to the first option, then to the lower node. A cost
// makes node 0 worse.
TEST(Score, OptionComesBeforeNode) {
  ProblemBuilder b;
  b.rack("", {2, 2});
  b.job({b.demand({.groups = {{.members = 1}}}), b.demand({.groups = {{.members = 2}}})});

  const std::vector<TimeUs> run{4 * kSecond, 2 * kSecond};

  EXPECT_EQ(solve(b.build(), 0, 0, 0, run, 4), (Lines{"4000 (4000 1) 0@0", "4000 (4000 1) 0@1", "4000 (4000 0) 1@0", "4000 (4000 0) 1@1"}));
  EXPECT_EQ(solve(b.build(), 0, 0, 0, run, 4, {1, 0}),
            (Lines{"4000 (4000 1) 0@1", "4000 (4000 0) 1@1", "4001 (4000 1) 0@0", "4001 (4000 0) 1@0"}));
}

// Rack ids follow the unnamed one: 0 is the unnamed rack (no candidate), 1 = a, 2 = b. Both hold 3 members of the first
// job; spread over nodes only b does.
TEST(Score, RacksNeedANameAndCountSpread) {
  ProblemBuilder b;
  b.rack("", {8}).rack("a", {4, 1}).rack("b", {2, 2, 2});
  b.gang(3);
  b.ask({.members = 3, .spread_most = 1, .spread = {kSwitchTopology, 0}});

  EXPECT_EQ(solve(b.build(), 0, 1, 1, {kNever, kNever}, 3), (Lines{"2 (0 2) 0@1", "3 (0 3) 0@2", "-", "3 (0 3) 0@2", "-", "-"}));
}

// The cluster (domain 3, no name) is a candidate for gangs that no rack holds. Each group by itself: 3 and 4 members
// fit, 7 GPUs exist.
TEST(Score, ClusterCountsAndGroupsAreTakenOneByOne) {
  ProblemBuilder b;
  b.rack("a", {4}).rack("b", {2}).rack("c", {1});
  b.job({b.demand({.groups = {{.members = 3}, {.members = 4}}})});
  b.job({b.demand({.groups = {{.members = 4}, {.members = 4}}})});

  EXPECT_EQ(solve(b.build(), 0, 2, 0, {kSecond, kSecond}, 1), (Lines{"7000 (7000 0) 0@3", "-"}));
}

// Two jobs, so terms stop at 2^61: 320 GPUs for 2^63 microseconds, and 4 GPUs left at -2^63 each.
TEST(Score, TermsSaturate) {
  ProblemBuilder b;
  b.rack("", {64, 64, 64, 64, 64});
  b.gang(320);
  b.gang(316);
  const std::string top = std::to_string(std::int64_t{1} << 61);

  EXPECT_EQ(solve(b.build(), 0, 1, INT64_MIN, {kNever - 1, 0}, 1), (Lines{top + " (" + top + " 0) 0@0", "-" + top + " (0 4) 0@0"}));
}

TEST(Score, CapacityCountsCoresAndTheEndOfNodes) {
  ProblemBuilder b;
  b.node({.gpus = 4, .cpu = 1000});
  b.node({.gpus = 4, .until = 10 * kSecond});
  b.node({.gpus = 4});
  b.ask({.members = 2, .cpu = 1000});

  EXPECT_EQ(solve(b.build(), 0, 0, 0, {11 * kSecond}, 3), (Lines{"22000 (22000 2) 0@2", "-", "-"}));
  EXPECT_EQ(solve(b.build(), 0, 0, 0, {10 * kSecond}, 3), (Lines{"20000 (20000 2) 0@1", "20000 (20000 2) 0@2", "-"}));
}

}  // namespace berth::test::score_test
