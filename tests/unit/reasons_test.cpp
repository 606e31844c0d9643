// One hand-worked case per reason.
#include <gtest/gtest.h>

#include "tests/unit/reasons_support.hpp"

namespace berth::test {
namespace {

using kernel::Outcome;

// Masks of the lowest n GPUs.
constexpr std::uint64_t low(int n) { return (std::uint64_t{1} << n) - 1; }

GroupSpec rack_group(std::int32_t members, std::int32_t gpus) {
  GroupSpec group;
  group.members = members;
  group.gpus = gpus;
  group.require = {kSwitchFacet, 1};
  return group;
}

}  // namespace

TEST(Reasons, TooFewGpusAreFree) {
  ProblemBuilder b;
  b.rack("r0", {8, 8});
  const int job = b.gang(12);
  b.hold(b.gang(1), {0, low(6)});
  const Reason r = explain(b.build(), walk_of(job));

  EXPECT_EQ(r.code, ReasonCode::kInsufficientGpus);
  EXPECT_FALSE(r.certified);
  EXPECT_EQ(sentence(r), "needs 12 GPUs; 10 are free; starts if 2 more free");
}

TEST(Reasons, BestRackIsNamedWithWhatItLacks) {
  ProblemBuilder b;
  b.rack("r0", {8, 8}).rack("r1", {8, 8});
  const int job = b.ask(rack_group(16, 1));
  const int other = b.gang(1);
  b.hold(other, {0, low(8)}).hold(other, {2, low(4)});  // 8 free in r0, 12 in r1
  const Reason r = explain(b.build(), walk_of(job));

  EXPECT_EQ(r.code, ReasonCode::kTopologyRequired);
  EXPECT_EQ(r.level, 1);
  EXPECT_EQ(r.asked, 16);
  EXPECT_EQ(r.best, 12);
  EXPECT_EQ(sentence(r).substr(0, 50), "needs 16 GPUs in one rack; best rack has 12 free: ");
  EXPECT_EQ(r.missing, 4);
}

TEST(Reasons, MemberThatFitsNoNodeNamesTheBestOne) {
  ProblemBuilder b;
  b.rack("r0", {8, 8});
  const int job = b.gang(1, 8);
  const int other = b.gang(1);
  b.hold(other, {0, low(4)}).hold(other, {1, low(3)});
  const Reason r = explain(b.build(), walk_of(job));

  EXPECT_EQ(r.code, ReasonCode::kFragmented);
  EXPECT_EQ(sentence(r), "needs 8 GPUs on one node; best node has 5 free: n1; starts if 3 more free there");
}

TEST(Reasons, LastMemberOfAGangNamesTheNodeToFree) {
  ProblemBuilder b;
  b.rack("r0", {8, 8, 8});
  const int job = b.gang(2, 8);
  const int other = b.gang(1);
  b.hold(other, {0, low(4)}).hold(other, {1, low(3)});
  const Reason r = explain(b.build(), walk_of(job));

  EXPECT_EQ(sentence(r), "needs 16 GPUs in whole pieces on single nodes; 8 are free in such pieces; starts if 3 more free on n1");
}

TEST(Reasons, CoresAndMemoryAreTheCauseOnlyWhenGpusSuffice) {
  ProblemBuilder b;
  NodeSpec node;
  node.gpus = 8;
  node.cpu = 16000;
  node.memory = std::int64_t{64} << 30;
  b.node(node);
  GroupSpec cores, bytes;
  cores.cpu = 12000;
  bytes.memory = std::int64_t{48} << 30;
  const int wants_cores = b.ask(cores), wants_bytes = b.ask(bytes), other = b.gang(1);
  b.hold(other, {0, low(1), kWholeGpu, 6500, std::int64_t{32} << 30, 0});
  const Problem p = b.build();

  EXPECT_EQ(sentence(explain(p, walk_of(wants_cores))),
            "needs 12 cores on one node; best node has 9.5 free: n0; starts if 2.5 cores more free there");
  EXPECT_EQ(sentence(explain(p, walk_of(wants_bytes))),
            "needs 48 GiB of memory on one node; best node has 32 GiB free: n0; starts if 16 GiB more free there");
}

TEST(Reasons, NodesThatLeaveTooEarlyAreAConstraint) {
  ProblemBuilder b;
  NodeSpec node;
  node.gpus = 8;
  node.until = 1000;
  b.node(node);
  const int job = b.gang(4);
  const Problem p = b.build();

  EXPECT_EQ(explain(p, walk_of(job), 1001).code, ReasonCode::kNodeConstraint);
  EXPECT_EQ(sentence(explain(p, walk_of(job), 1001)), "needs 4 GPUs; 0 are free on nodes that it may use for long enough");
  EXPECT_EQ(explain(p, walk_of(job), 1000).code, ReasonCode::kFragmented) << "nothing is short then";
}

TEST(Reasons, FullQueueIsNamedNearestFirst) {
  ProblemBuilder b;
  b.rack("r0", {8, 8});
  const int root = b.queue(kernel::kNone, {kernel::kNoLimit, 10}), leaf = b.queue(root, {8});
  const int job = b.gang(4, 1, leaf);
  b.hold(b.gang(1, 1, leaf), {0, low(7)});
  const Reason r = explain(b.build(), walk_of(job, Outcome::kQuota));

  EXPECT_EQ(r.code, ReasonCode::kQuota);
  EXPECT_EQ(sentence(r), "needs 4 t0 GPUs; queue q1 has 1 left of its limit; starts if 3 more GPUs fit within the limit of queue q1");
}

TEST(Reasons, OtherJobsAreNamed) {
  ProblemBuilder b;
  b.rack("r0", {8});
  const int job = b.gang(1);
  const Problem p = b.build();
  core::JobWalk failed = walk_of(job, Outcome::kPreempted);
  failed.lost_gpus = true;

  EXPECT_EQ(sentence(explain(p, walk_of(job, Outcome::kBehind, 7))), "waits behind job j7");
  EXPECT_EQ(sentence(explain(p, walk_of(job, Outcome::kWaits, 7))), "would delay job j7, which has a reservation");
  EXPECT_EQ(sentence(explain(p, walk_of(job, Outcome::kPreempted, 7))), "displaced by job j7");
  EXPECT_EQ(sentence(explain(p, failed)), "its nodes or GPUs failed, and it could not be mended");
  EXPECT_EQ(sentence(explain(p, walk_of(job, Outcome::kBudget))), "not decided: the search was cut short");
}

TEST(Reasons, HardDeadlineThatCannotBeMetComesBeforeTheRest) {
  ProblemBuilder b;
  b.rack("r0", {8});
  core::JobWalk late = walk_of(b.gang(8), Outcome::kBehind, 3), in_time = late;
  late.hard_deadline = 59 * kSecond;
  in_time.hard_deadline = 60 * kSecond;
  const Problem p = b.build();

  EXPECT_EQ(sentence(explain(p, late, 60 * kSecond)), "would end at 1 min at the earliest; its deadline is 59 s");
  EXPECT_EQ(explain(p, in_time, 60 * kSecond).code, ReasonCode::kBehind);
}

TEST(Reasons, SpreadAndSegmentsAreFragmentation) {
  ProblemBuilder b;
  b.rack("r0", {8}).rack("r1", {8});
  GroupSpec spread, segment;
  spread.members = 5;
  spread.spread_most = 2;
  spread.spread = {kSwitchFacet, 1};
  segment.members = 12;
  segment.segment_size = 6;
  segment.segment = {kSwitchFacet, 1};
  const int spreads = b.ask(spread), segments = b.ask(segment);
  b.hold(b.gang(1), {1, low(3)});
  const Problem p = b.build();

  EXPECT_EQ(sentence(explain(p, walk_of(spreads))), "needs 5 GPUs placed by rack; 4 are free in such pieces");
  EXPECT_EQ(sentence(explain(p, walk_of(segments))), "needs 12 GPUs placed by rack; 6 are free in such pieces");
}

TEST(Reasons, SharesCountRoomOnSharedGpus) {
  ProblemBuilder b;
  NodeSpec node;
  node.gpus = 1;
  node.sharing = true;
  b.node(node);
  GroupSpec share;
  share.share_ppm = 600'000;
  const int job = b.ask(share);
  HeldSpec held{0, 1, 500'000, 0, 0, 0};
  b.hold(b.gang(1), held);
  const Reason r = explain(b.build(), walk_of(job));

  EXPECT_EQ(r.code, ReasonCode::kInsufficientGpus);
  EXPECT_EQ(r.best, 0);
}

TEST(Reasons, SmallestChangeAmongAlternativesIsTheEvidence) {
  ProblemBuilder b;
  b.rack("r0", {8});
  GroupSpec eight, five;
  eight.members = 8;
  five.members = 5;
  const int big = b.demand({{eight}, 0, {}}), small = b.demand({{five}, 0, {}});
  const int job = b.job({big, small});
  b.hold(b.gang(1), {0, low(4)});
  const Reason r = explain(b.build(), walk_of(job));

  EXPECT_EQ(sentence(r), "needs 5 GPUs; 4 are free; starts if 1 more free");
}

TEST(ReasonCertificates, SayWhatTheWholeClusterLacks) {
  ProblemBuilder b;
  b.type(std::int64_t{80} << 30);
  b.type(0);
  b.rack("r0", {8, 8}).rack("r1", {8, 4});
  GroupSpec one, many, memory;
  many.members = 9;
  memory.gpu_memory = std::int64_t{96} << 30;
  const int q = b.queue(kernel::kNone, {kernel::kNoLimit, kernel::kNoLimit, 3});
  const int total = b.gang(29), rack = b.ask(rack_group(17, 1)), node = b.gang(1, 9), pieces = b.gang(4, 6);
  const int filter = b.job({b.demand({{many}, 0, {3}})}), none = b.job({b.demand({{one}, 1, {}})});
  const int quota = b.gang(4, 1, q), small = b.ask(memory);
  const Problem p = b.build();
  const auto text = [&](int job) {
    const Reason r = explain(p, walk_of(job));
    return std::string(r.certified ? "never: " : "now: ") + sentence(r);
  };

  EXPECT_EQ(text(total), "never: needs 29 t0 GPUs; the cluster has 28");
  EXPECT_EQ(text(rack).substr(0, 58), "never: needs 17 GPUs in one rack; largest rack has 16: d" + text(rack).substr(56, 2));
  EXPECT_EQ(text(node), "never: needs 9 GPUs on one node; the largest node has 8");
  EXPECT_EQ(text(pieces), "never: needs 24 GPUs in whole pieces on single nodes; 18 exist in such pieces");
  EXPECT_EQ(text(filter), "never: needs 9 t0 GPUs; the nodes that its constraints allow have 4");
  EXPECT_EQ(text(none), "never: needs t1 GPUs; the cluster has none");
  EXPECT_EQ(text(quota), "never: needs 4 GPUs; queue q0 allows 3 at most");
  EXPECT_EQ(text(small), "never: needs 96 GiB of memory on each GPU; t0 has 80 GiB");
}

TEST(ReasonCertificates, AreNotGivenForWhatOthersOnlyHold) {
  ProblemBuilder b;
  b.rack("r0", {8});
  const int job = b.gang(8);
  b.hold(b.gang(1), {0, low(8)});

  EXPECT_FALSE(explain(b.build(), walk_of(job)).certified);
}

TEST(ReasonCertificates, NeedEveryAlternativeToFail) {
  ProblemBuilder b;
  b.rack("r0", {8});
  GroupSpec nine, eight;
  nine.members = 9;
  eight.members = 8;
  const int impossible = b.demand({{nine}, 0, {}}), possible = b.demand({{eight}, 0, {}});
  const int job = b.job({impossible, possible});
  b.hold(b.gang(1), {0, low(1)});

  EXPECT_FALSE(explain(b.build(), walk_of(job)).certified);
}

TEST(ReasonCertificates, AreNotDrawnFromFiltersThatPass) {
  ProblemBuilder b;
  b.rack("r0", {8, 8});
  GroupSpec nine;
  nine.members = 9;
  const int job = b.job({b.demand({{nine}, 0, {1}})});
  const Problem p = b.build();

  EXPECT_TRUE(explain(p, walk_of(job)).certified);
  EXPECT_FALSE(explain(p, walk_of(job), kNever, {0b11}).certified);
}

}  // namespace berth::test
