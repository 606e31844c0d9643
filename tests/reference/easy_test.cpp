#include <gtest/gtest.h>

#include <algorithm>

#include "berth/kernel/base/bits.hpp"
#include "tests/reference/solve.hpp"

/// Backfilling around the first blocked job's reservation: section 7 of docs/placement.md.
namespace berth::test::easy_test {

// Everything runs unless stated otherwise; release times of running jobs by job index.
PassCase easy(const Problem& p, const std::vector<TimeUs>& run, const std::vector<kernel::ReleaseRow>& releases) {
  PassCase pass = pass_over(p);
  pass.discipline = kernel::Discipline::kEasy;
  pass.option_run = run;
  pass.releases = releases;
  return pass;
}

kernel::ReleaseRow ends(TimeUs at, std::int32_t job) { return {at, job, kernel::kNone, 0}; }

/// Start of the one reservation, kNever: none.
TimeUs start_of(const ResultBuffers& result) { return *std::min_element(result.reserve_at.begin(), result.reserve_at.end()); }

constexpr TimeUs s = kSecond;

// node 0: R .   until 100 s      node 1: .
// J requests node 0 whole: reserved at 100 s. A long job may not use node 0's free GPU, but node 1; a short one may;
// then nothing is left.
TEST(Easy, ShortJobsUseReservedGpusLongOnesDoNot) {
  ProblemBuilder b;
  b.rack("", {2, 1});
  b.hold(b.gang(1), {.node = 0, .mask = 0b01});
  b.gang(1, 2);
  b.gang(1);
  b.gang(1);
  b.gang(1);
  const Problem p = b.build();
  const ResultBuffers result = solve(p, easy(p, {kNever, 60 * s, 200 * s, 200 * s, 100 * s}, {ends(100 * s, 0)}));

  EXPECT_EQ(brief(result), (Lines{"kept", "reserved 0:1", "placed 1:1", "waits", "placed 0:1"}));
  EXPECT_EQ(start_of(result), 100 * s);
  EXPECT_EQ(masks(result, 1), (std::vector<std::uint64_t>{0b11}));
  EXPECT_EQ(masks(result, 4), (std::vector<std::uint64_t>{0b10}));
}

// One microsecond too long, and of unknown length.
TEST(Easy, LateByOneMicrosecondIsLate) {
  ProblemBuilder b;
  b.rack("", {2});
  b.hold(b.gang(1), {.node = 0, .mask = 0b01});
  b.gang(1, 2);
  b.gang(1);
  b.gang(1);
  const Problem p = b.build();
  const PassCase pass = easy(p, {kNever, kNever, 100 * s + 1, kNever}, {ends(100 * s, 0)});

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"kept", "reserved 0:1", "waits", "waits"}));
}

// The job placed in this pass ends at 10 + 50 s; the running one at 100 s, and it holds node 1.
TEST(Easy, JobsOfThisPassAreEventsToo) {
  ProblemBuilder b;
  b.rack("", {2, 1});
  b.gang(1, 2);
  b.hold(b.gang(1), {.node = 1, .mask = 1});
  b.gang(1, 2);
  const Problem p = b.build();
  PassCase pass = easy(p, {50 * s, kNever, kNever}, {ends(100 * s, 1)});
  pass.now = 10 * s;
  const ResultBuffers result = solve(p, pass);

  EXPECT_EQ(brief(result), (Lines{"placed 0:1", "kept", "reserved 0:1"}));
  EXPECT_EQ(start_of(result), 60 * s);
}

// Only the first blocked job has a reservation. Overdue releases count as now.
TEST(Easy, OnlyTheFirstBlockedJobIsReserved) {
  ProblemBuilder b;
  b.rack("", {1});
  b.hold(b.gang(1), {.node = 0, .mask = 1});
  b.gang(1);
  b.gang(1);
  const Problem p = b.build();
  PassCase pass = easy(p, {kNever, kNever, 1}, {ends(5 * s, 0)});
  pass.now = 7 * s;
  const ResultBuffers result = solve(p, pass);

  EXPECT_EQ(brief(result), (Lines{"kept", "reserved 0:1", "waits"}));
  EXPECT_EQ(start_of(result), 7 * s);
}

// The first blocked job never fits: no reservation, and no later job gets one. A job that only lacks quota is skipped.
TEST(Easy, JobThatNeverFitsReservesNothing) {
  ProblemBuilder b;
  b.rack("", {2});
  const int queue = b.queue(kernel::kNone, {0, 0});
  b.hold(b.gang(1), {.node = 0, .mask = 0b01});
  b.gang(1, 1, queue);
  b.gang(1, 3);
  b.gang(1, 2);
  b.gang(1);
  const Problem p = b.build();
  const ResultBuffers result = solve(p, easy(p, {kNever, kNever, kNever, kNever, kNever}, {ends(100 * s, 0)}));

  EXPECT_EQ(brief(result), (Lines{"kept", "quota", "waits", "waits", "placed 0:1"}));
  EXPECT_EQ(start_of(result), kNever);
}

// node 0: 4 GPUs, 4000 milli-cores; R holds two and 500. J: 3 GPUs and 3500, reserved at 100 s, after which 1 GPU and
// 500 are left. So a long job of 1000 does not fit next to it, though 3500 are free now; one of 500 does.
TEST(Easy, CoresOfTheReservationAreKept) {
  ProblemBuilder b;
  b.node({.gpus = 4, .cpu = 4000});
  b.hold(b.gang(2), {.node = 0, .mask = 0b0011, .cpu = 500});
  b.ask({.gpus = 3, .cpu = 3500});
  b.ask({.cpu = 1000});
  b.ask({.cpu = 500});
  const Problem p = b.build();
  const ResultBuffers result = solve(p, easy(p, {kNever, kNever, kNever, kNever}, {ends(100 * s, 0)}));

  EXPECT_EQ(brief(result), (Lines{"kept", "reserved 0:1", "waits", "placed 0:1"}));
  EXPECT_EQ(masks(result, 1), (std::vector<std::uint64_t>{0b0111}));
  EXPECT_EQ(masks(result, 3), (std::vector<std::uint64_t>{0b1000}));
}

// Node 0 is free at 100 s and goes away at 250 s; J would end there at 300 s. Node 1, free at 150 s, stays.
TEST(Easy, ReservedJobEndsBeforeItsNodeGoesAway) {
  ProblemBuilder b;
  b.node({.gpus = 1, .until = 250 * s});
  b.node({.gpus = 1});
  b.hold(b.gang(1), {.node = 0, .mask = 1});
  b.hold(b.gang(1), {.node = 1, .mask = 1});
  b.gang(1);
  const Problem p = b.build();
  const ResultBuffers result = solve(p, easy(p, {kNever, kNever, 200 * s}, {ends(100 * s, 0), ends(150 * s, 1)}));

  EXPECT_EQ(brief(result, 2), "reserved 1:1");
  EXPECT_EQ(start_of(result), 150 * s);
}

// GPU 1 of node 0 is being released and becomes free at 40 s; it belongs to no job.
TEST(Easy, ReleasedGpusThatNoJobHoldsAreEvents) {
  ProblemBuilder b;
  b.node({.gpus = 2, .busy = 0b10});
  b.gang(1, 2);
  const Problem p = b.build();
  const ResultBuffers result = solve(p, easy(p, {kNever}, {{40 * s, kernel::kNone, 0, 0b10}}));

  EXPECT_EQ(brief(result, 0), "reserved 0:1");
  EXPECT_EQ(start_of(result), 40 * s);
}

// Policy `priority`: J displaces A, which then is the first blocked job and is reserved where B ends. K (long) cannot
// take that GPU, and B may not be displaced.
TEST(Easy, DisplacedJobIsReserved) {
  ProblemBuilder b;
  b.rack("", {1, 1});
  b.gang(1);
  b.hold(b.gang(1), {.node = 0, .mask = 1});
  b.gang(1);
  b.hold(b.gang(1), {.node = 1, .mask = 1});
  const Problem p = b.build();
  PassCase pass = easy(p, {kNever, kNever, kNever, kNever}, {ends(10 * s, 1), ends(90 * s, 3)});
  pass.preemptive = true;
  pass.victim_ok = {1, 1, 1, 0};
  const ResultBuffers result = solve(p, pass);

  EXPECT_EQ(brief(result), (Lines{"placed 0:1", "reserved 1:1", "waits", "kept"}));
  EXPECT_EQ(result.displaced_by, (std::vector<std::int32_t>{-1, 0, -1, -1}));
  EXPECT_EQ(start_of(result), 90 * s);
}

// GPU 0 has a free half now, and is reserved whole at 100 s: a long share may not use it, a short one may.
TEST(Easy, ReservedGpuTakesNoLongShare) {
  ProblemBuilder b;
  b.node({.gpus = 1, .sharing = true});
  b.hold(b.ask({.share_ppm = 500'000}), {.node = 0, .mask = 1, .share_ppm = 500'000});
  b.gang(1);
  b.ask({.share_ppm = 500'000});
  b.ask({.share_ppm = 500'000});
  const Problem p = b.build();
  const ResultBuffers result = solve(p, easy(p, {kNever, kNever, 101 * s, 100 * s}, {ends(100 * s, 0)}));

  EXPECT_EQ(brief(result), (Lines{"kept", "reserved 0:1", "waits", "placed 0:1"}));
}

// node 0: R .     node 1: V     J needs node 0 whole: reserved at 100 s. K is long, and displaces V, which is not in its way.
TEST(Easy, JobsBehindAReservationDisplaceOthers) {
  ProblemBuilder b;
  b.rack("", {2, 1});
  b.hold(b.gang(1), {.node = 0, .mask = 0b01});
  b.gang(1, 2);
  b.gang(1);
  b.hold(b.gang(1), {.node = 1, .mask = 1});
  const Problem p = b.build();
  PassCase pass = easy(p, {kNever, kNever, kNever, kNever}, {ends(100 * s, 0), ends(300 * s, 3)});
  pass.preemptive = true;
  pass.victim_ok = {0, 1, 1, 1};
  const ResultBuffers result = solve(p, pass);

  EXPECT_EQ(brief(result), (Lines{"kept", "reserved 0:1", "placed 1:1", "preempted"}));
  EXPECT_EQ(result.displaced_by, (std::vector<std::int32_t>{-1, -1, -1, 2}));
  EXPECT_EQ(start_of(result), 100 * s);
}

// node 0: R V     J needs it whole: reserved at 100 s. A victim's GPU that is reserved serves only a job that ends before.
TEST(Easy, WhatAVictimLeavesOfTheReservationIsForShortJobs) {
  ProblemBuilder b;
  b.rack("", {2});
  b.hold(b.gang(1), {.node = 0, .mask = 0b01});
  b.gang(1, 2);
  b.gang(1);
  b.gang(1);
  b.hold(b.gang(1), {.node = 0, .mask = 0b10});
  const Problem p = b.build();
  PassCase pass = easy(p, {kNever, kNever, 100 * s + 1, 100 * s, kNever}, {ends(100 * s, 0), ends(50 * s, 4)});
  pass.preemptive = true;
  pass.victim_ok = {0, 1, 1, 1, 1};
  const ResultBuffers result = solve(p, pass);

  EXPECT_EQ(brief(result), (Lines{"kept", "reserved 0:1", "waits", "placed 0:1", "preempted"}));
  EXPECT_EQ(masks(result, 3), (std::vector<std::uint64_t>{0b10}));
}

// node 0: R . .     node 1: V V     node 2: W     J needs node 0 whole: reserved. K (long) needs a node with two GPUs. V and W would
// leave, W keeps its GPU. L (long), behind both, finds none.
TEST(Easy, AVictimThatIsNotNeededKeepsItsGpus) {
  ProblemBuilder b;
  b.rack("", {3, 2, 1});
  b.hold(b.gang(1), {.node = 0, .mask = 0b01});
  b.gang(1, 3);
  b.gang(1, 2);
  b.hold(b.gang(1, 2), {.node = 1, .mask = 0b11});
  b.hold(b.gang(1), {.node = 2, .mask = 1});
  b.gang(1);
  const Problem p = b.build();
  PassCase pass = easy(p, {kNever, kNever, kNever, kNever, kNever, kNever}, {ends(100 * s, 0)});
  pass.preemptive = true;
  pass.victim_ok = {0, 1, 1, 1, 1, 1};
  const ResultBuffers result = solve(p, pass);

  EXPECT_EQ(brief(result), (Lines{"kept", "reserved 0:1", "placed 1:1", "preempted", "kept", "waits"}));
}

// node 0: 4 GPUs, 4000 milli-cores: R one and 1500, V one and 500. J: 2 GPUs and 3500, reserved at 100 s, when both have ended.
// 500 are left beside it. V's cores are among them, and do not count once more when V leaves for a long job.
TEST(Easy, CoresOfVictimsOnReservedNodesAreForShortJobs) {
  ProblemBuilder b;
  b.node({.gpus = 4, .cpu = 4000});
  b.hold(b.gang(1), {.node = 0, .mask = 0b0001, .cpu = 1500});
  b.ask({.gpus = 2, .cpu = 3500});
  b.ask({.cpu = 1000});
  b.ask({.cpu = 2200});
  b.hold(b.ask({.cpu = 500}), {.node = 0, .mask = 0b0010, .cpu = 500});
  const Problem p = b.build();
  PassCase pass = easy(p, {kNever, kNever, 200 * s, 100 * s, kNever}, {ends(100 * s, 0), ends(50 * s, 4)});
  pass.preemptive = true;
  pass.victim_ok = {0, 1, 1, 1, 1};
  const ResultBuffers result = solve(p, pass);

  EXPECT_EQ(brief(result), (Lines{"kept", "reserved 0:1", "waits", "placed 0:1", "preempted"}));
  EXPECT_EQ(start_of(result), 100 * s);
}

// GPU 0: halves R and V. J needs a whole GPU: GPU 0 at 100 s, as V ends before. A long share displaces V in vain, a short one does not.
TEST(Easy, AShareOfAReservedGpuIsForShortJobs) {
  ProblemBuilder b;
  b.node({.gpus = 1, .sharing = true});
  b.hold(b.ask({.share_ppm = 500'000}), {.node = 0, .mask = 1, .share_ppm = 500'000});
  b.gang(1);
  b.ask({.share_ppm = 500'000});
  b.ask({.share_ppm = 500'000});
  b.hold(b.ask({.share_ppm = 500'000}), {.node = 0, .mask = 1, .share_ppm = 500'000});
  const Problem p = b.build();
  PassCase pass = easy(p, {kNever, kNever, 101 * s, 100 * s, kNever}, {ends(100 * s, 0), ends(80 * s, 4)});
  pass.preemptive = true;
  pass.victim_ok = {0, 1, 1, 1, 1};

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"kept", "reserved 0:1", "waits", "placed 0:1", "preempted"}));
}

// node 0: R R R R . . . .     node 1: . . . .     J, of the queue, needs node 0 whole: reserved at 100 s.
// K, of the queue or of one next to it, has room on node 1. V holds GPUs of node 2. The limit is that of the queue or of one above.
struct LimitCase {
  std::int64_t limit = 8;
  bool above = false;     // the limit is that of the parent, and K is of a sibling
  std::int64_t idle = 0;  // what a sibling keeps, and no job uses
  TimeUs run = 200 * s;   // of K
  bool victim = false;    // V is of K's queue and may be displaced
  std::int32_t victim_gpus = 4;
  TimeUs victim_end = kNever;

  std::vector<std::string> outcomes() const {
    ProblemBuilder b;
    b.rack("", {8, 4, 4});
    const int top = b.queue(kernel::kNone, {limit});
    const int own = above ? b.queue(top, {}) : top;
    const int other = above ? b.queue(top, {}) : top;
    if (idle > 0) b.queue(top, {}, {idle});
    b.hold(b.gang(1, 4), {.node = 0, .mask = 0b1111});
    b.gang(1, 8, own);
    b.gang(1, 4, other);
    b.hold(b.gang(1, victim_gpus, victim ? other : kernel::kNone), {.node = 2, .mask = kernel::lowest_bits(0b1111, victim_gpus)});
    const Problem p = b.build();
    PassCase pass = easy(p, {kNever, kNever, run, kNever}, {ends(100 * s, 0)});
    if (victim_end != kNever) pass.releases.push_back(ends(victim_end, 3));
    std::sort(pass.releases.begin(), pass.releases.end(), [](const auto& a, const auto& c) { return a.at < c.at; });
    pass.preemptive = victim;
    pass.victim_ok = {0, 0, 0, 1};
    return brief(solve(p, pass));
  }
};

TEST(Easy, LimitsOfQueuesAreReserved) {
  EXPECT_EQ(LimitCase{}.outcomes(), (Lines{"kept", "reserved 0:1", "quota", "kept"}));
  EXPECT_EQ((LimitCase{.limit = 11}.outcomes()), (Lines{"kept", "reserved 0:1", "quota", "kept"}));
  EXPECT_EQ((LimitCase{.limit = 12}.outcomes()), (Lines{"kept", "reserved 0:1", "placed 1:1", "kept"}));
}

// One that has ended by then has given its quota back.
TEST(Easy, AJobThatEndsInTimeMayUseTheLimitOfTheReservedJob) {
  EXPECT_EQ((LimitCase{.run = 50 * s}.outcomes()), (Lines{"kept", "reserved 0:1", "placed 0:1", "kept"}));
  EXPECT_EQ((LimitCase{.run = 100 * s}.outcomes()), (Lines{"kept", "reserved 0:1", "placed 0:1", "kept"}));
  EXPECT_EQ((LimitCase{.run = 100 * s + 1}.outcomes()), (Lines{"kept", "reserved 0:1", "quota", "kept"}));
}

TEST(Easy, LimitsOfQueuesAboveAreReserved) {
  EXPECT_EQ((LimitCase{.limit = 11, .above = true}.outcomes()), (Lines{"kept", "reserved 0:1", "quota", "kept"}));
  EXPECT_EQ((LimitCase{.limit = 11, .above = true, .run = 50 * s}.outcomes()), (Lines{"kept", "reserved 0:1", "placed 0:1", "kept"}));
  EXPECT_EQ((LimitCase{.limit = 12, .above = true}.outcomes()), (Lines{"kept", "reserved 0:1", "placed 1:1", "kept"}));
}

// A sibling that is idle keeps 3 of the limit.
TEST(Easy, WhatQueuesKeepCountsBesideAReservation) {
  EXPECT_EQ((LimitCase{.limit = 14, .above = true, .idle = 3}.outcomes()), (Lines{"kept", "reserved 0:1", "quota", "kept"}));
  EXPECT_EQ((LimitCase{.limit = 15, .above = true, .idle = 3}.outcomes()), (Lines{"kept", "reserved 0:1", "placed 1:1", "kept"}));
}

// V runs on when J is to start. So K starts only in its place. V does not come back, though its GPUs are free: with V, J has no room.
TEST(Easy, AVictimLeavesItsLimitBesideAReservation) {
  EXPECT_EQ((LimitCase{.limit = 16, .victim = true}.outcomes()), (Lines{"kept", "reserved 0:1", "placed 1:1", "kept"}));
  EXPECT_EQ((LimitCase{.limit = 15, .victim = true}.outcomes()), (Lines{"kept", "reserved 0:1", "placed 1:1", "preempted"}));
  EXPECT_EQ((LimitCase{.limit = 12, .victim = true}.outcomes()), (Lines{"kept", "reserved 0:1", "placed 1:1", "preempted"}));
  EXPECT_EQ((LimitCase{.limit = 15, .victim = true, .victim_end = 101 * s}.outcomes()),
            (Lines{"kept", "reserved 0:1", "placed 1:1", "preempted"}));
}

// V has ended by then. What it gives back now it would have given back anyway.
TEST(Easy, AVictimThatEndsInTimeLeavesNoLimitBesideAReservation) {
  EXPECT_EQ((LimitCase{.limit = 12, .victim = true, .victim_end = 50 * s}.outcomes()),
            (Lines{"kept", "reserved 0:1", "placed 1:1", "kept"}));
  EXPECT_EQ((LimitCase{.limit = 11, .victim = true, .victim_gpus = 2, .victim_end = 50 * s}.outcomes()),
            (Lines{"kept", "reserved 0:1", "quota", "kept"}));
  EXPECT_EQ((LimitCase{.limit = 11, .run = 50 * s, .victim = true, .victim_gpus = 2, .victim_end = 50 * s}.outcomes()),
            (Lines{"kept", "reserved 0:1", "placed 0:1", "kept"}));
}

// Of the two jobs the first is short and the second is not: each is tested where it runs.
TEST(Easy, ShortJobsTakeNothingOfTheLimitLater) {
  ProblemBuilder b;
  b.rack("", {8, 4, 4});
  const int queue = b.queue(kernel::kNone, {12});
  b.hold(b.gang(1, 4), {.node = 0, .mask = 0b1111});
  b.gang(1, 8, queue);
  b.gang(1, 4, queue);
  b.gang(1, 4, queue);
  b.gang(1, 1, queue);
  const Problem p = b.build();
  const PassCase pass = easy(p, {kNever, kNever, 60 * s, 200 * s, kNever}, {ends(100 * s, 0)});

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"kept", "reserved 0:1", "placed 0:1", "placed 1:1", "quota"}));
}

// Half of the limit is used by a job that ends first. So later jobs may use the other half, as long as they end.
TEST(Easy, WhatEndsBeforeLeavesItsLimit) {
  ProblemBuilder b;
  b.rack("", {8, 4, 4});
  const int queue = b.queue(kernel::kNone, {12});
  b.hold(b.gang(1, 4, queue), {.node = 0, .mask = 0b1111});
  b.gang(1, 8, queue);
  b.gang(1, 4, queue);
  b.gang(1, 4, queue);
  const Problem p = b.build();
  const PassCase pass = easy(p, {kNever, kNever, 200 * s, 50 * s}, {ends(100 * s, 0)});

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"kept", "reserved 0:1", "placed 1:1", "placed 0:1"}));
}

// R uses the limit until J is to start. So K would have room then, and has none now.
TEST(Easy, WhatEndsBeforeCountsNow) {
  ProblemBuilder b;
  b.rack("", {8, 4});
  const int queue = b.queue(kernel::kNone, {4});
  b.hold(b.gang(1, 4, queue), {.node = 0, .mask = 0b1111});
  b.gang(1, 8);
  b.gang(1, 4, queue);
  const Problem p = b.build();

  EXPECT_EQ(brief(solve(p, easy(p, {kNever, kNever, kNever}, {ends(100 * s, 0)}))), (Lines{"kept", "reserved 0:1", "quota"}));
}

// The limit of K's queue was lowered while V ran. K fails there now; a job of another queue does not.
TEST(Easy, ALimitThatIsExceededStopsOnlyItsOwnJobs) {
  ProblemBuilder b;
  b.rack("", {8, 4, 4});
  const int low = b.queue(kernel::kNone, {2});
  const int queue = b.queue(kernel::kNone, {12});
  b.hold(b.gang(1, 4), {.node = 0, .mask = 0b1111});
  b.gang(1, 8, queue);
  b.gang(1, 1, low);
  b.gang(1, 4, queue);
  b.hold(b.gang(1, 4, low), {.node = 2, .mask = 0b1111});
  const Problem p = b.build();
  const PassCase pass = easy(p, {kNever, kNever, kNever, kNever, kNever}, {ends(100 * s, 0)});

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"kept", "reserved 0:1", "quota", "placed 1:1", "kept"}));
}

}  // namespace berth::test::easy_test
