#include <gtest/gtest.h>

#include "tests/reference/solve.hpp"

/// Victims: step 5 of section 6 of docs/placement.md.
namespace berth::test::preempt_test {

PassCase preemptive(const Problem& p) {
  PassCase pass = pass_over(p);
  pass.preemptive = true;
  return pass;
}

// node 0: A A     node 1: B C     J needs two GPUs of one node. Without C: no; without C and B: yes.
TEST(Preempt, SmallestNumberOfTheLastJobs) {
  ProblemBuilder b;
  b.rack("", {2, 2});
  b.gang(1, 2);
  b.hold(b.gang(1, 2), {.node = 0, .mask = 0b11});
  b.hold(b.gang(1), {.node = 1, .mask = 0b01});
  b.hold(b.gang(1), {.node = 1, .mask = 0b10});
  const Problem p = b.build();
  const ResultBuffers result = solve(p, preemptive(p));

  EXPECT_EQ(brief(result), (Lines{"placed 1:1", "kept", "preempted", "preempted"}));
  EXPECT_EQ(result.displaced_by, (std::vector<std::int32_t>{-1, -1, 0, 0}));
}

// node 0: A A     node 1: B      J needs two GPUs of one node: all must leave; B's GPU is not needed and B gets it
// back.
TEST(Preempt, VictimNotNeededGetsItsGpusBack) {
  ProblemBuilder b;
  b.rack("", {2, 1});
  b.gang(1, 2);
  b.hold(b.gang(2), {.node = 0, .mask = 0b11});
  b.hold(b.gang(1), {.node = 1, .mask = 0b1});
  const Problem p = b.build();
  const ResultBuffers result = solve(p, preemptive(p));

  EXPECT_EQ(brief(result), (Lines{"placed 0:1", "preempted", "kept"}));
  EXPECT_EQ(result.displaced_by, (std::vector<std::int32_t>{-1, 0, -1}));
}

// Five nodes of one GPU, each held; J needs three: 1, 2 and 4 are tested, then 3.
TEST(Preempt, BisectsAfterDoubling) {
  ProblemBuilder b;
  b.rack("", {1, 1, 1, 1, 1});
  b.gang(3);
  for (int n = 0; n < 5; ++n) b.hold(b.gang(1), {.node = n, .mask = 1});
  const Problem p = b.build();

  EXPECT_EQ(brief(solve(p, preemptive(p))), (Lines{"placed 2:1 3:1 4:1", "kept", "kept", "preempted", "preempted", "preempted"}));
}

// node 0: A .     node 1: .      J takes node 0 whole, A continues on node 1.
TEST(Preempt, DisplacedJobMoves) {
  ProblemBuilder b;
  b.rack("", {2, 1});
  b.gang(1, 2);
  b.hold(b.gang(1), {.node = 0, .mask = 0b01});
  const Problem p = b.build();
  const ResultBuffers result = solve(p, preemptive(p));

  EXPECT_EQ(brief(result), (Lines{"placed 0:1", "moved 1:1"}));
  EXPECT_EQ(result.option[1], 0);
  EXPECT_EQ(result.displaced_by[1], 0);
}

// 13 GPUs: A has 8, B 4, C 1. J takes nine, so that A and B must go and C could stay. Three are left: A does not fit even
// with C's GPU, and B does.
TEST(Preempt, ADisplacedJobDisplacesThoseBehindIt) {
  ProblemBuilder b;
  b.rack("", {13});
  b.gang(1, 9);
  b.hold(b.gang(1, 8), {.node = 0, .mask = 0b0'0000'1111'1111});
  b.hold(b.gang(1, 4), {.node = 0, .mask = 0b0'1111'0000'0000});
  b.hold(b.gang(1), {.node = 0, .mask = 0b1'0000'0000'0000});
  const Problem p = b.build();
  const ResultBuffers result = solve(p, preemptive(p));

  EXPECT_EQ(brief(result), (Lines{"placed 0:1", "preempted", "moved 0:1", "preempted"}));
  EXPECT_EQ(result.displaced_by, (std::vector<std::int32_t>{-1, 0, 0, 2}));
}

// A does without the GPU of a job before it, and without one that must not be displaced.
TEST(Preempt, ADisplacedJobSparesJobsBeforeItAndThoseThatMustStay) {
  ProblemBuilder b;
  b.rack("", {2, 1, 1});
  b.gang(1, 2);
  b.hold(b.gang(1), {.node = 1, .mask = 1});
  b.hold(b.gang(1), {.node = 0, .mask = 0b01});
  b.hold(b.gang(1), {.node = 2, .mask = 1});
  const Problem p = b.build();
  PassCase pass = preemptive(p);
  pass.victim_ok = {1, 1, 1, 0};

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"placed 0:1", "kept", "preempted", "kept"}));
}

// Only one GPU is free for A under its class; C behind it is of the same class.
TEST(Preempt, ADisplacedJobHeedsTheClassRule) {
  ProblemBuilder b;
  b.rack("", {2, 1});
  b.gang(1, 2);
  b.hold(b.gang(1), {.node = 0, .mask = 0b01});
  b.hold(b.gang(1), {.node = 1, .mask = 1});
  const Problem p = b.build();
  PassCase pass = preemptive(p);
  pass.class_rule = true;
  pass.preemption_class = {1, 0, 0};
  EXPECT_EQ(brief(solve(p, pass)), (Lines{"placed 0:1", "preempted", "kept"}));

  pass.class_rule = false;
  EXPECT_EQ(brief(solve(p, pass)), (Lines{"placed 0:1", "moved 1:1", "preempted"}));
}

TEST(Preempt, OnlyVictimsThatMayBeDisplaced) {
  ProblemBuilder b;
  b.rack("", {1, 1});
  b.gang(1);
  b.hold(b.gang(1), {.node = 0, .mask = 1});
  b.hold(b.gang(1), {.node = 1, .mask = 1});
  const Problem p = b.build();
  PassCase pass = preemptive(p);
  pass.victim_ok = {1, 1, 0};

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"placed 0:1", "preempted", "kept"}));
}

// Classes by job index: J 1, A 0, B 1. B is of the same class and stays, though it is last.
TEST(Preempt, ClassRuleSparesEqualsAndBetters) {
  ProblemBuilder b;
  b.rack("", {1, 1});
  b.gang(1);
  b.hold(b.gang(1), {.node = 0, .mask = 1});
  b.hold(b.gang(1), {.node = 1, .mask = 1});
  const Problem p = b.build();
  PassCase pass = preemptive(p);
  pass.class_rule = true;
  pass.preemption_class = {1, 0, 1};

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"placed 0:1", "preempted", "kept"}));
}

// The queue's one GPU is held by B on node 1; node 0 is free. J needs B's quota, not its GPU: B cannot return without
// quota.
TEST(Preempt, QuotaOfVictimsIsReleasedAndNotGivenTwice) {
  ProblemBuilder b;
  b.rack("", {1, 1});
  const int queue = b.queue(kernel::kNone, {1, 1});
  b.gang(1, 1, queue);
  b.hold(b.gang(1, 1, queue), {.node = 1, .mask = 1});
  const Problem p = b.build();

  EXPECT_EQ(brief(solve(p, preemptive(p))), (Lines{"placed 0:1", "preempted"}));
}

// A holds the drained node 0: its GPU helps no other job, and A keeps it.
TEST(Preempt, GpusOfAClosedNodeDoNotComeBackToOthers) {
  ProblemBuilder b;
  b.node({.gpus = 1, .closed = true});
  b.rack("", {1});
  b.gang(1);
  b.hold(b.gang(1), {.node = 1, .mask = 1});
  b.hold(b.gang(1), {.node = 0, .mask = 1});
  const Problem p = b.build();

  EXPECT_EQ(brief(solve(p, preemptive(p))), (Lines{"placed 1:1", "preempted", "kept"}));
}

// Two halves of GPU 0: both must leave before J gets the GPU whole.
TEST(Preempt, SharedGpuIsWholeAgainWhenTheLastShareLeaves) {
  ProblemBuilder b;
  b.node({.gpus = 1, .sharing = true});
  b.gang(1);
  b.hold(b.ask({.share_ppm = 500'000}), {.node = 0, .mask = 1, .share_ppm = 500'000});
  b.hold(b.ask({.share_ppm = 500'000}), {.node = 0, .mask = 1, .share_ppm = 500'000});
  const Problem p = b.build();

  EXPECT_EQ(brief(solve(p, preemptive(p))), (Lines{"placed 0:1", "preempted", "preempted"}));
}

// Under `strict` a displaced job after a failure is preempted without a try; a waiting one is behind.
TEST(Preempt, StrictLeavesDisplacedJobsBehindAFailure) {
  ProblemBuilder b;
  b.rack("", {2, 1});
  b.gang(1, 2);                                  // displaces A
  b.gang(1, 4);                                  // fits nowhere
  b.hold(b.gang(1), {.node = 0, .mask = 0b01});  // A, node 1 would be free
  b.gang(1);
  const Problem p = b.build();
  PassCase pass = preemptive(p);
  pass.discipline = kernel::Discipline::kStrict;

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"placed 0:1", "waits", "preempted", "behind"}));
}

}  // namespace berth::test::preempt_test
