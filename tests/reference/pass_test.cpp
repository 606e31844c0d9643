#include <gtest/gtest.h>

#include "tests/reference/solve.hpp"

/// Order, disciplines, quota, options: section 6 of docs/placement.md.
namespace berth::test::pass_test {

ProblemBuilder four_jobs_on_two_gpus() {
  ProblemBuilder b;
  b.rack("", {2});
  b.gang(1);
  b.gang(4);
  b.gang(1);
  return b;
}

TEST(Order, StrictBlocksWhatFollows) {
  const Problem p = four_jobs_on_two_gpus().build();
  PassCase pass = pass_over(p);
  pass.discipline = kernel::Discipline::kStrict;

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"placed 0:1", "waits", "behind"}));
}

TEST(Order, GreedyGoesOn) {
  const Problem p = four_jobs_on_two_gpus().build();

  EXPECT_EQ(brief(solve(p)), (Lines{"placed 0:1", "waits", "placed 0:1"}));
}

TEST(Order, PositionsFollowTheRequestNotTheIndices) {
  const Problem p = four_jobs_on_two_gpus().build();
  PassCase pass = pass_over(p);
  pass.order = {2, 1};
  pass.running = {0, 0};
  pass.victim_ok = {1, 1};
  const ResultBuffers result = solve(p, pass);

  EXPECT_EQ(brief(result), (Lines{"placed 0:1", "waits"}));
  EXPECT_EQ(masks(result, 0), (std::vector<std::uint64_t>{1}));
}

TEST(Order, NothingIsTriedFromTheLimitOn) {
  ProblemBuilder b;
  b.rack("", {2});
  b.gang(1);
  b.gang(1);
  b.hold(1, {.node = 0, .mask = 1});
  b.gang(1);
  const Problem p = b.build();
  PassCase pass = pass_over(p);
  pass.limit = 0;

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"budget", "kept", "budget"}));
}

// root: at most 3 GPUs, 2 held in its child.      root (3)
// The child itself has no limit.                    child: running 2
TEST(Order, QuotaCountsInEveryAncestor) {
  ProblemBuilder b;
  b.rack("", {8});
  const int root = b.queue(kernel::kNone, {kernel::kNoLimit, 3});
  const int child = b.queue(root, {});
  b.hold(b.gang(2, 1, child), {.node = 0, .mask = 0b11});
  b.gang(2, 1, child);
  b.gang(1, 1, child);
  b.gang(1, 1, root);
  b.gang(1, 1);

  EXPECT_EQ(brief(solve(b.build())), (Lines{"kept", "quota", "placed 0:1", "quota", "placed 0:1"}));
}

// root: 21.  a and b below it; b keeps 11.  a runs 9.
TEST(Order, WhatAQueueKeepsIsChargedToItsParentWhileItIsIdle) {
  ProblemBuilder b;
  b.rack("", {32});
  const int root = b.queue(kernel::kNone, {kernel::kNoLimit, 21});
  const int a = b.queue(root, {});
  const int lender = b.queue(root, {}, {0, 11});
  b.hold(b.gang(9, 1, a), {.node = 0, .mask = 0x1ff});
  b.gang(2, 1, a);        // of 21 - 11 - 9
  b.gang(1, 1, a);        // the last
  b.gang(1, 1, root);     // none is left
  b.gang(10, 1, lender);  // of what it keeps
  b.gang(2, 1, lender);   // one kept, none of the root's
  b.gang(1, 1, lender);

  EXPECT_EQ(brief(solve(b.build())), (Lines{"kept", "quota", "placed 0:1", "quota", "placed 0:10", "quota", "placed 0:1"}));
}

// middle (keeps 6) has a child that keeps 4. root: 10, of which 6 are kept.
TEST(Order, WhatIsKeptBelowCountsAtEveryLevelOnce) {
  ProblemBuilder b;
  b.rack("", {32});
  const int root = b.queue(kernel::kNone, {10});
  const int other = b.queue(root, {});
  const int middle = b.queue(root, {7}, {6});
  const int child = b.queue(middle, {}, {4});
  b.gang(5, 1, other);
  b.gang(4, 1, other);
  b.gang(4, 1, middle);  // 4 + 4 kept below it
  b.gang(3, 1, middle);  // 7: one more than it keeps would be the root's
  b.gang(2, 1, middle);
  b.gang(4, 1, child);

  EXPECT_EQ(brief(solve(b.build())), (Lines{"quota", "placed 0:4", "quota", "quota", "placed 0:2", "placed 0:4"}));
}

// A queue over its parent's limit starts nothing, not of what it keeps either.
TEST(Order, WhatIsKeptIsNotMoreThanALimitAllows) {
  ProblemBuilder b;
  b.rack("", {8});
  const int root = b.queue(kernel::kNone, {5});
  const int a = b.queue(root, {}, {3});
  b.queue(root, {}, {3});
  b.gang(1, 1, a);

  EXPECT_EQ(brief(solve(b.build())), (Lines{"quota"}));
}

// Quota of type 0 is used up: the first option is skipped, the second runs on type 1.
TEST(Order, OptionsAreTriedInOrderWithinQuota) {
  ProblemBuilder b;
  b.type(0);
  b.type(0);
  b.node({.gpus = 4});
  b.node({.gpus = 1, .type = 1});
  const int queue = b.queue(kernel::kNone, {1, kernel::kNoLimit, kernel::kNoLimit});
  const int big = b.demand({.groups = {{.members = 2}}});
  const int other = b.demand({.groups = {{.members = 1}}, .type = 1});
  b.job({big, other}, queue);
  b.job({big, other}, queue);  // one option without quota, one without GPUs: it waits, quota is not the cause
  b.job({big}, queue);
  const ResultBuffers result = solve(b.build());

  EXPECT_EQ(brief(result), (Lines{"placed 1:1", "waits", "quota"}));
  EXPECT_EQ(result.option, (std::vector<std::int32_t>{1, -1, -1}));
}

TEST(Order, BatchAnswersEachScenarioAlone) {
  const Problem p = four_jobs_on_two_gpus().build();
  const PassCase plain = pass_over(p);
  PassCase taken = plain;
  taken.taken = {{0, 1}};
  std::vector<ResultBuffers> results{ResultBuffers(p, plain), ResultBuffers(p, taken)};
  const core::PlaceTask scenarios[] = {plain.view(), taken.view()};
  const kernel::PlaceResult views[] = {results[0].view(), results[1].view()};
  core::make_reference_backend()->place_batch(p.view(), scenarios, views);

  EXPECT_EQ(brief(results[0]), (Lines{"placed 0:1", "waits", "placed 0:1"}));
  EXPECT_EQ(brief(results[1]), (Lines{"placed 0:1", "waits", "waits"}));
  EXPECT_EQ(diff(results[0], solve(p)), "");
  EXPECT_NE(diff(results[0], results[1]), "");
}

// 3 jobs of 1, 4 and 1 members on one node without sharing and 2 GPUs: the 4 members could occupy at most 2 entries,
// and the reservation may overlap the rest: min(1 + 2 + 1, 2 + 2).
TEST(Order, EntryBoundCountsGpusAndOneReservation) {
  const Problem p = four_jobs_on_two_gpus().build();

  EXPECT_EQ(core::entry_bound(p.view()), 4);
}

// A gang of 100 million members must not reserve memory for them where two GPUs exist.
TEST(Order, EntryBoundDoesNotGrowWithWhatDoesNotExist) {
  ProblemBuilder few = four_jobs_on_two_gpus();
  few.gang(100'000'000);

  EXPECT_EQ(core::entry_bound(few.build().view()), 4);
}

}  // namespace berth::test::pass_test
