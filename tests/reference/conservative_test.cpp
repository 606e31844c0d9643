#include <gtest/gtest.h>

#include "tests/reference/solve.hpp"

/// Every job that does not fit now is reserved: section 7 of docs/placement.md, "Conservative backfill".
namespace berth::test::conservative_test {
namespace {

constexpr TimeUs s = kSecond;

PassCase conservative(const Problem& p, const std::vector<TimeUs>& run, const std::vector<kernel::ReleaseRow>& releases) {
  PassCase pass = pass_over(p);
  pass.discipline = kernel::Discipline::kConservative;
  pass.option_run = run;
  pass.releases = releases;
  return pass;
}

kernel::ReleaseRow done(TimeUs at, std::int32_t job) { return {at, job, kernel::kNone, 0}; }

//                                           0         100       200  250  301 s
// node 0: R has GPUs 0 and 1 until 100 s.  GPU 0  RRRRRRRRR AAAAAAAAA CCCC CCCC
// A: 4 GPUs for 100 s: at 100 s.               1  RRRRRRRRR AAAAAAAAA CCCC CCCC
// B: 2 for 100 s: now, until A begins.         2  BBBBBBBBB AAAAAAAAA DDDD E
// C: 2 for 101 s: too long before A.           3  BBBBBBBBB AAAAAAAAA DDDD
// D: 2 for 50 s, beside C. E: 1 for 1 s, when D ends.
TEST(Conservative, EveryJobIsReservedAndNoneDelaysAnEarlierOne) {
  ProblemBuilder b;
  b.rack("", {4});
  b.hold(b.gang(2), {.node = 0, .mask = 0b0011});
  b.gang(1, 4);
  b.gang(1, 2);
  b.gang(1, 2);
  b.gang(1, 2);
  b.gang(1);
  const Problem p = b.build();
  const ResultBuffers result = solve(p, conservative(p, {kNever, 100 * s, 100 * s, 101 * s, 50 * s, 1 * s}, {done(100 * s, 0)}));

  EXPECT_EQ(brief(result), (Lines{"kept", "reserved 0:1", "placed 0:1", "reserved 0:1", "reserved 0:1", "reserved 0:1"}));
  EXPECT_EQ(result.reserve_at, (std::vector<TimeUs>{kNever, 100 * s, kNever, 200 * s, 200 * s, 250 * s}));
  EXPECT_EQ(masks(result, 3), (std::vector<std::uint64_t>{0b0011}));
  EXPECT_EQ(masks(result, 4), (std::vector<std::uint64_t>{0b1100}));
  EXPECT_EQ(masks(result, 5), (std::vector<std::uint64_t>{0b0100}));
}

// node 0: R until 10 s; node 1: S until 20 s, one GPU each. A takes both at 20 s for 5 s. In the hole on node 0 from 10
// to 20 s there is no room for B (11 s), which begins when A ends, and there is for C (10 s).
TEST(Conservative, HolesBeforeReservationsAreUsed) {
  ProblemBuilder b;
  b.rack("", {1, 1});
  b.hold(b.gang(1), {.node = 0, .mask = 1});
  b.hold(b.gang(1), {.node = 1, .mask = 1});
  b.gang(2);
  b.gang(1);
  b.gang(1);
  const Problem p = b.build();
  const ResultBuffers result = solve(p, conservative(p, {kNever, kNever, 5 * s, 11 * s, 10 * s}, {done(10 * s, 0), done(20 * s, 1)}));

  EXPECT_EQ(brief(result), (Lines{"kept", "kept", "reserved 0:1 1:1", "reserved 0:1", "reserved 0:1"}));
  EXPECT_EQ(result.reserve_at, (std::vector<TimeUs>{kNever, kNever, 20 * s, 25 * s, 10 * s}));
}

// A starts now, and when it ends is not known: so there is no start for B.
TEST(Conservative, JobsOfUnknownEndReleaseNothing) {
  ProblemBuilder b;
  b.rack("", {3});
  b.hold(b.gang(1), {.node = 0, .mask = 0b001});
  b.gang(1, 2);
  b.gang(1, 3);
  const Problem p = b.build();
  const ResultBuffers result = solve(p, conservative(p, {kNever, kNever, 1 * s}, {done(100 * s, 0)}));

  EXPECT_EQ(brief(result), (Lines{"kept", "placed 0:1", "waits"}));
  EXPECT_EQ(result.reserve_at, (std::vector<TimeUs>{kNever, kNever, kNever}));
}

// What should have ended still runs: its GPUs count as free from now on, but not now.
TEST(Conservative, OverdueReleasesAreReservedForNow) {
  ProblemBuilder b;
  b.rack("", {1});
  b.hold(b.gang(1), {.node = 0, .mask = 1});
  b.gang(1);
  b.gang(1);
  const Problem p = b.build();
  PassCase pass = conservative(p, {kNever, 3 * s, 1 * s}, {done(5 * s, 0)});
  pass.now = 7 * s;
  const ResultBuffers result = solve(p, pass);

  EXPECT_EQ(brief(result), (Lines{"kept", "reserved 0:1", "reserved 0:1"}));
  EXPECT_EQ(result.reserve_at, (std::vector<TimeUs>{kNever, 7 * s, 10 * s}));
}

// 4,000 milli-cores; R holds 2,000 until 10 s. A (3,000) begins then. Beside it 1,000 are left, so B (2,000) begins when
// A ends, though 2,000 are free now; C (1,000) begins now.
TEST(Conservative, CoresAreTheLeastOfTheWindow) {
  ProblemBuilder b;
  b.node({.gpus = 8, .cpu = 4000});
  b.hold(b.gang(1), {.node = 0, .mask = 1, .cpu = 2000});
  b.ask({.cpu = 3000});
  b.ask({.cpu = 2000});
  b.ask({.cpu = 1000});
  const Problem p = b.build();
  const ResultBuffers result = solve(p, conservative(p, {kNever, 5 * s, 11 * s, 11 * s}, {done(10 * s, 0)}));

  EXPECT_EQ(brief(result), (Lines{"kept", "reserved 0:1", "reserved 0:1", "placed 0:1"}));
  EXPECT_EQ(result.reserve_at, (std::vector<TimeUs>{kNever, 10 * s, 15 * s, kNever}));
}

// The queue may have 2 GPUs. R has one of them until 10 s, so A (2) begins then, and B (1, 11 s long) after it. Without a
// queue C begins now.
TEST(Conservative, QuotasAreTheMostOfTheWindow) {
  ProblemBuilder b;
  b.rack("", {8});
  const int queue = b.queue(kernel::kNone, {2});
  b.hold(b.gang(1, 1, queue), {.node = 0, .mask = 1});
  b.gang(1, 2, queue);
  b.gang(1, 1, queue);
  b.gang(1, 1);
  const Problem p = b.build();
  const ResultBuffers result = solve(p, conservative(p, {kNever, 20 * s, 11 * s, 11 * s}, {done(10 * s, 0)}));

  EXPECT_EQ(brief(result), (Lines{"kept", "reserved 0:1", "reserved 0:1", "placed 0:1"}));
  EXPECT_EQ(result.reserve_at, (std::vector<TimeUs>{kNever, 10 * s, 30 * s, kNever}));
}

// The limit is 4, and x keeps 2. R (2, in x) runs until 10 s. B (2, in y) has room at each instant: what R leaves, x keeps. C (1, in y)
// has none until B ends.
TEST(Conservative, WhatAQueueKeepsIsChargedAfterItsJobsEnd) {
  ProblemBuilder b;
  b.rack("", {8});
  const int root = b.queue(kernel::kNone, {4});
  const int x = b.queue(root, {}, {2});
  const int y = b.queue(root, {});
  b.hold(b.gang(1, 2, x), {.node = 0, .mask = 3});
  b.gang(1, 2, y);
  b.gang(1, 1, y);
  b.gang(1, 2, x);
  const Problem p = b.build();
  const ResultBuffers result = solve(p, conservative(p, {kNever, 20 * s, 5 * s, 5 * s}, {done(10 * s, 0)}));

  EXPECT_EQ(brief(result), (Lines{"kept", "placed 0:1", "reserved 0:1", "reserved 0:1"}));
  EXPECT_EQ(result.reserve_at, (std::vector<TimeUs>{kNever, kNever, 20 * s, 10 * s}));
}

// The limit is 6, and x keeps 3. R (3, in x) runs until 5 s, then A (3, in y) until 10 s in its place. B (2, in x) has room at each
// instant, and so begins now: beside R the limit has 3 left, and beside A it is of what x keeps. The most that x and the limit are charged
// at any instant would leave it none.
TEST(Conservative, QuotasAreThoseOfEachInstant) {
  ProblemBuilder b;
  b.rack("", {3, 2});
  const int root = b.queue(kernel::kNone, {6});
  const int x = b.queue(root, {}, {3});
  const int y = b.queue(root, {});
  b.hold(b.gang(1, 3, x), {.node = 0, .mask = 7});
  b.gang(1, 3, y);
  b.gang(1, 2, x);
  const Problem p = b.build();
  const ResultBuffers result = solve(p, conservative(p, {kNever, 5 * s, 20 * s}, {done(5 * s, 0)}));

  EXPECT_EQ(brief(result), (Lines{"kept", "reserved 0:1", "placed 1:1"}));
  EXPECT_EQ(result.reserve_at, (std::vector<TimeUs>{kNever, 5 * s, kNever}));
}

// One GPU: R has it whole until 10 s. A has a half from 10 to 20 s. B (a half for 12 s) fits beside it, not before: R is
// in the way. C (a half for 5 s) begins when A ends, D (whole) when C has ended.
TEST(Conservative, SharesFitBesideReservedShares) {
  ProblemBuilder b;
  b.node({.gpus = 1, .sharing = true});
  b.hold(b.gang(1), {.node = 0, .mask = 1});
  b.ask({.share_ppm = 500'000});
  b.ask({.share_ppm = 500'000});
  b.ask({.share_ppm = 500'000});
  b.gang(1);
  const Problem p = b.build();
  const ResultBuffers result = solve(p, conservative(p, {kNever, 10 * s, 12 * s, 5 * s, 1 * s}, {done(10 * s, 0)}));

  EXPECT_EQ(result.reserve_at, (std::vector<TimeUs>{kNever, 10 * s, 10 * s, 20 * s, 25 * s}));
}

// The first start wins, at it the first option. Option 0 of A fits at 20 s, option 1 at 10 s. Both options of B fit at
// 11 s.
TEST(Conservative, TheFirstStartWinsThenTheFirstOption) {
  ProblemBuilder b;
  b.rack("", {1, 1});
  b.hold(b.gang(1), {.node = 0, .mask = 1});
  b.hold(b.gang(1), {.node = 1, .mask = 1});
  const int any_node = b.demand({.groups = {{}}}), both = b.demand({.groups = {{.members = 2}}}),
            first_node = b.demand({.groups = {{}}, .nodes = {0}});
  b.job({both, any_node});
  b.job({first_node, any_node});
  const Problem p = b.build();
  const ResultBuffers result = solve(p, conservative(p, {kNever, kNever, 1 * s, 1 * s, 1 * s, 1 * s}, {done(10 * s, 0), done(20 * s, 1)}));

  EXPECT_EQ(brief(result), (Lines{"kept", "kept", "reserved 0:1", "reserved 0:1"}));
  EXPECT_EQ(result.option, (std::vector<std::int32_t>{-1, -1, 1, 0}));
  EXPECT_EQ(result.reserve_at, (std::vector<TimeUs>{kNever, kNever, 10 * s, 11 * s}));
}

// Policy `priority`: A (2 GPUs) may displace C, not B, so it is reserved. From then on W may not displace C either.
TEST(Conservative, NoJobIsDisplacedAfterTheFirstReservation) {
  ProblemBuilder b;
  b.rack("", {1, 1});
  b.gang(2);
  b.gang(1);
  b.hold(b.gang(1), {.node = 0, .mask = 1});
  b.hold(b.gang(1), {.node = 1, .mask = 1});
  const Problem p = b.build();
  PassCase pass = conservative(p, {5 * s, 1 * s, kNever, kNever}, {done(10 * s, 2), done(90 * s, 3)});
  pass.preemptive = true;
  pass.victim_ok = {1, 1, 1, 0};
  const ResultBuffers result = solve(p, pass);

  EXPECT_EQ(brief(result), (Lines{"reserved 0:1 1:1", "reserved 0:1", "kept", "kept"}));
  EXPECT_EQ(result.reserve_at, (std::vector<TimeUs>{90 * s, 10 * s, kNever, kNever}));
}

// The same without B: A displaces C, which is then reserved itself, for when A ends.
TEST(Conservative, DisplacedJobIsReserved) {
  ProblemBuilder b;
  b.rack("", {1});
  b.gang(1);
  b.hold(b.gang(1), {.node = 0, .mask = 1});
  const Problem p = b.build();
  PassCase pass = conservative(p, {5 * s, 1 * s}, {done(10 * s, 1)});
  pass.preemptive = true;
  const ResultBuffers result = solve(p, pass);

  EXPECT_EQ(brief(result), (Lines{"placed 0:1", "reserved 0:1"}));
  EXPECT_EQ(result.displaced_by, (std::vector<std::int32_t>{-1, 0}));
  EXPECT_EQ(result.reserve_at, (std::vector<TimeUs>{kNever, 5 * s}));
}

}  // namespace
}  // namespace berth::test::conservative_test
