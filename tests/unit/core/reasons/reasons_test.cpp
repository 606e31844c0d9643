// One case per reason, computed by hand.
#include <gtest/gtest.h>

#include "tests/unit/core/reasons/reasons_support.hpp"

namespace berth::test::reasons_test {
namespace {

using kernel::Outcome;

// Masks of the lowest n GPUs.
constexpr std::uint64_t low(int n) { return (std::uint64_t{1} << n) - 1; }

GroupSpec rack_group(std::int32_t members, std::int32_t gpus) {
  GroupSpec group;
  group.members = members;
  group.gpus = gpus;
  group.require = {kSwitchTopology, 1};
  return group;
}

std::string rack_name(const Reason& r) { return fmt::format("d{}", r.where); }

}  // namespace

TEST(Reasons, TooFewGpusAreFree) {
  ProblemBuilder b;
  b.rack("r0", {8, 8});
  const int job = b.gang(12);
  b.hold(b.gang(1), {0, low(6)});
  const Reason r = explain(b.build(), pass_of(job));

  EXPECT_EQ(r.code, ReasonCode::kInsufficientGpus);
  EXPECT_FALSE(r.certified);
  EXPECT_EQ(sentence(r), "needs 12 GPUs; 10 free after this plan; would start if 2 more were free");
}

TEST(Reasons, BestRackIsNamedWithWhatItLacks) {
  ProblemBuilder b;
  b.rack("r0", {8, 8}).rack("r1", {8, 8});
  const int job = b.ask(rack_group(16, 1));
  const int other = b.gang(1);
  b.hold(other, {0, low(8)}).hold(other, {2, low(4)});  // 8 free in r0, 12 in r1
  const Reason r = explain(b.build(), pass_of(job));

  EXPECT_EQ(r.code, ReasonCode::kTopologyRequired);
  EXPECT_EQ(r.level, 1);
  EXPECT_EQ(r.asked, 16);
  EXPECT_EQ(r.best, 12);
  EXPECT_EQ(sentence(r).substr(0, 50), "needs 16 GPUs in one rack; best rack has 12 left: ");
  EXPECT_EQ(r.missing, 4);
}

TEST(Reasons, MemberThatFitsNoNodeNamesTheBestOne) {
  ProblemBuilder b;
  b.rack("r0", {8, 8});
  const int job = b.gang(1, 8);
  const int other = b.gang(1);
  b.hold(other, {0, low(4)}).hold(other, {1, low(3)});
  const Reason r = explain(b.build(), pass_of(job));

  EXPECT_EQ(r.code, ReasonCode::kFragmented);
  EXPECT_EQ(sentence(r),
            "needs 8 GPUs on one node; best node has 5 left: n1; 9 free in all after this plan; would start if 3 more were free on n1");
}

TEST(Reasons, LastMemberOfAGangNamesTheNodeToFree) {
  ProblemBuilder b;
  b.rack("r0", {8, 8, 8});
  const int job = b.gang(2, 8);
  const int other = b.gang(1);
  b.hold(other, {0, low(4)}).hold(other, {1, low(3)});
  const Reason r = explain(b.build(), pass_of(job));

  EXPECT_EQ(sentence(r),
            "needs 16 GPUs as 2 members of 8 GPUs, each on one node; 1 of 2 still fits; 17 free in all after this plan; would start if 3 "
            "more were free on n1");
}

TEST(Reasons, GangOfWholeNodesDistinguishesFreeGpusFromFreeNodes) {
  ProblemBuilder b;
  b.rack("r0", {8, 8, 8}).rack("r1", {8});
  const int pair = b.gang(2, 8), four = b.gang(4, 8);
  const int other = b.gang(1);
  for (int node = 0; node < 4; ++node) b.hold(other, {node, low(1)});
  const Problem p = b.build();

  EXPECT_EQ(sentence(explain(p, pass_of(pair))),
            "needs 16 GPUs as 2 members of 8 GPUs, each on one node; 0 of 2 still fit; 28 free in all after this plan; would start if 2 "
            "more members of 8 GPUs had room");
  EXPECT_EQ(
      sentence(explain(p, pass_of(four))),
      "needs 32 GPUs as 4 members of 8 GPUs, each on one node; 28 free after this plan; would start if 4 more members of 8 GPUs had room");
}

TEST(Reasons, OneMemberNamesTheNodeAlsoWhereAllOfItIsTooLittle) {
  ProblemBuilder b;
  b.rack("r0", {4, 4});
  const int job = b.gang(1, 4), other = b.gang(1);
  b.hold(other, {0, low(4)}).hold(other, {1, low(3)});
  const int full_job = b.gang(1, 4);
  const Problem some = b.build();
  b.hold(other, {1, 8});
  const Problem none = b.build();

  EXPECT_EQ(explain(some, pass_of(job)).code, ReasonCode::kInsufficientGpus);
  EXPECT_EQ(sentence(explain(some, pass_of(job))),
            "needs 4 GPUs on one node; best node has 1 left: n1; would start if 3 more were free there");
  EXPECT_EQ(sentence(explain(none, pass_of(full_job))),
            "needs 4 GPUs on one node; no node has any left; would start if 4 more were free on one node");
}

TEST(Reasons, MembersInOneRackAreCountedAsMembers) {
  ProblemBuilder b;
  b.rack("r0", {8, 8}).rack("r1", {8, 8});
  const int pair = b.ask(rack_group(2, 8)), other = b.gang(1);
  b.hold(other, {0, low(1)}).hold(other, {2, low(1)});
  const Reason r = explain(b.build(), pass_of(pair));

  EXPECT_EQ(r.code, ReasonCode::kTopologyRequired);
  EXPECT_EQ(sentence(r), "needs 16 GPUs in one rack, as 2 members of 8 GPUs, each on one node; best rack has room left for 1 of 2: " +
                             rack_name(r) + "; would start if 1 more member of 8 GPUs had room there");
}

TEST(Reasons, FullRacksAreNotCalledBest) {
  ProblemBuilder b;
  b.rack("r0", {8}).rack("r1", {8});
  const int job = b.ask(rack_group(1, 1)), other = b.gang(1);
  b.hold(other, {0, low(8)}).hold(other, {1, low(8)});
  const Reason r = explain(b.build(), pass_of(job));

  EXPECT_EQ(sentence(r), "needs 1 GPU in one rack; no rack has any left; would start if 1 more were free in " + rack_name(r));
}

TEST(Reasons, FreeGpusThatAJobMayNotUseAreNotCountedAndNotHidden) {
  ProblemBuilder b;
  b.rack("r0", {8, 8});
  GroupSpec six;
  six.members = 6;
  const int job = b.job({b.demand({{six}, 0, {1}})});
  b.hold(b.gang(1), {1, low(4)});
  const Reason r = explain(b.build(), pass_of(job));

  EXPECT_EQ(r.code, ReasonCode::kNodeConstraint);
  EXPECT_EQ(sentence(r),
            "needs 6 GPUs; 4 free after this plan on nodes that it may use, 12 in all; would start if 2 more were free on such nodes");
}

TEST(Reasons, CoresOfManyMembersAreCountedByMember) {
  ProblemBuilder b;
  NodeSpec node;
  node.gpus = 4;
  node.cpu = 20000;
  b.node(node);
  b.node(node);
  GroupSpec group;
  group.members = 4;
  group.cpu = 9000;
  const int job = b.ask(group), other = b.gang(1);
  b.hold(other, {0, low(1), kWholeGpu, 10000, 0, 0});  // one fits on the rest of it, two on the other node
  const Reason r = explain(b.build(), pass_of(job));

  EXPECT_EQ(r.code, ReasonCode::kCpu);
  EXPECT_EQ(sentence(r), "needs 36 cores: 9 for each of 4 members, on the node of its GPUs; 3 of 4 still fit");
}

TEST(Reasons, GroupsThatFitOneByOneButNotTogetherNameTheirDomain) {
  ProblemBuilder b;
  b.rack("r0", {8, 8}).rack("r1", {8, 8});
  // In one rack: two members of 4, and one of 6. 5 + 5 GPUs hold the pair, 7 + 7 the pair or the six and one of the pair.
  GroupSpec top, pair, six;
  top.members = 0;
  top.require = {kSwitchTopology, 1};
  pair.members = 2;
  pair.gpus = 4;
  six.gpus = 6;
  top.children = {pair, six};
  const int job = b.ask(top), other = b.gang(1);
  b.hold(other, {0, low(3)}).hold(other, {1, low(3)}).hold(other, {2, low(1)}).hold(other, {3, low(1)});
  const Reason r = explain(b.build(), pass_of(job));

  EXPECT_EQ(r.code, ReasonCode::kFragmented);
  EXPECT_EQ(r.asked, 14);
  EXPECT_EQ(r.best, 14);
  EXPECT_EQ(r.free, 24);
  EXPECT_EQ(sentence(r), "needs 14 GPUs in one rack; " + rack_name(r) + " has 14 left, but its groups found no place there together");
}

// Three in one rack and two anywhere: each finds room by itself, and the rack of the three is not what lacks.
TEST(Reasons, GroupsOfWhichOneMustBeInADomainSpeakOfTheWholeGang) {
  ProblemBuilder b;
  b.rack("r0", {8}).rack("r1", {8});
  GroupSpec root, pair, three;
  root.members = 0;
  pair.gpus = 2;
  three.members = 3;
  three.require = {kSwitchTopology, 1};
  root.children = {pair, three};
  const int job = b.ask(root), other = b.gang(1);
  b.hold(other, {0, low(5)}).hold(other, {1, low(5)});
  const Reason r = explain(b.build(), pass_of(job));

  EXPECT_EQ(r.code, ReasonCode::kFragmented);
  EXPECT_EQ(r.where, -1);
  EXPECT_EQ(sentence(r), "needs 5 GPUs; 6 free after this plan, but its groups found no place together");
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

  EXPECT_EQ(sentence(explain(p, pass_of(wants_cores))),
            "needs 12 cores on one node; best node has 9.5 left: n0; would start if 2.5 cores more were free there");
  EXPECT_EQ(sentence(explain(p, pass_of(wants_bytes))),
            "needs 48 GiB of memory on one node; best node has 32 GiB left: n0; would start if 16 GiB more were free there");
}

TEST(Reasons, NodesThatLeaveTooEarlyAreAConstraint) {
  ProblemBuilder b;
  NodeSpec node;
  node.gpus = 8;
  node.until = 1000;
  b.node(node);
  const int job = b.gang(4);
  const Problem p = b.build();

  EXPECT_EQ(explain(p, pass_of(job), 1001).code, ReasonCode::kNodeConstraint);
  EXPECT_EQ(sentence(explain(p, pass_of(job), 1001)),
            "needs 4 GPUs; 0 free after this plan on nodes that stay until it ends; the last of the others leaves in 0.001 s");
  EXPECT_EQ(sentence(explain(p, pass_of(job), 1000)), "needs 4 GPUs; 8 free after this plan, but not when the scheduling pass reached it");
}

TEST(Reasons, NoChangeIsPromisedWhereItMattersWhichNodeFrees) {
  ProblemBuilder b;
  NodeSpec leaves, stays;
  leaves.until = 1000;
  b.node(leaves);
  b.node(stays);
  const int job = b.gang(2), other = b.gang(1);
  b.hold(other, {0, low(8)}).hold(other, {1, low(8)});
  const Problem p = b.build();

  EXPECT_EQ(sentence(explain(p, pass_of(job), 1001)), "needs 2 GPUs; 0 free after this plan");
  EXPECT_EQ(sentence(explain(p, pass_of(job), 1000)), "needs 2 GPUs; 0 free after this plan; would start if 2 more were free");
}

TEST(Reasons, FullQueueIsNamedNearestFirst) {
  ProblemBuilder b;
  b.rack("r0", {8, 8});
  const int root = b.queue(kernel::kNone, {kernel::kNoLimit, 11}), leaf = b.queue(root, {8});
  const int four = b.gang(4, 1, leaf), five = b.gang(5, 1, leaf), ten = b.gang(10, 1, leaf);
  b.hold(b.gang(1, 1, leaf), {0, low(7)});
  const Problem p = b.build();
  const auto text = [&](int job) { return sentence(explain(p, pass_of(job, Outcome::kQuota))); };

  EXPECT_EQ(text(four),
            "needs 4 GPUs; queue q1 has 1 left of its limit; would start if 3 more GPUs were free within the limit of queue q1");
  EXPECT_EQ(text(five), "needs 5 GPUs; queue q1 has 1 left of its limit") << "and q0 has 4";
  EXPECT_EQ(text(ten), "needs 10 GPUs; queue q1 allows 8 at most");
}

TEST(Reasons, OtherJobsAreNamed) {
  ProblemBuilder b;
  b.rack("r0", {8});
  const int job = b.gang(1);
  const Problem p = b.build();
  core::JobPass failed = pass_of(job, Outcome::kPreempted);
  failed.lost_gpus = true;

  EXPECT_EQ(sentence(explain(p, pass_of(job, Outcome::kBehind, 7))), "waits behind job j7");
  EXPECT_EQ(sentence(explain(p, pass_of(job, Outcome::kWaits, 7))), "would delay job j7, which has a reservation");
  EXPECT_EQ(sentence(explain(p, pass_of(job, Outcome::kPreempted, 7))), "displaced by job j7");
  core::JobPass later = pass_of(job, Outcome::kWaits, 7);
  later.other_at = 90 * kSecond;
  EXPECT_EQ(sentence(explain(p, later)), "would delay job j7, which is to start in 1 min 30 s");
  EXPECT_EQ(sentence(explain(p, failed)), "its nodes or GPUs failed, and no free GPUs could replace them");
  EXPECT_EQ(sentence(explain(p, pass_of(job, Outcome::kBudget))), "not decided: the search was cut short");
}

TEST(Reasons, DominantOneIsTheFirstOfTheHeadersList) {
  ProblemBuilder b;
  b.rack("r0", {8});
  const int queue = b.queue(kernel::kNone, {4});
  const int over = b.gang(4, 1, queue), wide = b.gang(8), fits = b.gang(4);
  b.hold(b.gang(1, 1, queue), {0, low(2)});
  const Problem p = b.build();
  const auto code = [&](int job, Outcome outcome, int other, auto&& change) {
    core::JobPass pass = pass_of(job, outcome, other);
    change(pass);
    return explain(p, pass, 60 * kSecond).code;
  };
  const auto as_it_is = [](core::JobPass&) {};

  EXPECT_EQ(code(over, Outcome::kPreempted, 7, [](core::JobPass& w) { w.lost_gpus = true; }), ReasonCode::kNodeFailed);
  EXPECT_EQ(code(over, Outcome::kPreempted, 7, as_it_is), ReasonCode::kLostPriority);
  EXPECT_EQ(code(over, Outcome::kBudget, kernel::kNone, as_it_is), ReasonCode::kBudget);
  EXPECT_EQ(code(over, Outcome::kBehind, 7, as_it_is), ReasonCode::kBehind);
  EXPECT_EQ(code(over, Outcome::kWaits, 7, as_it_is), ReasonCode::kQuota);
  EXPECT_EQ(code(wide, Outcome::kBehind, 7, as_it_is), ReasonCode::kBehind);
  EXPECT_EQ(code(wide, Outcome::kWaits, 7, as_it_is), ReasonCode::kInsufficientGpus);
  EXPECT_EQ(code(fits, Outcome::kWaits, 7, [](core::JobPass& w) { w.gave_up = true; }), ReasonCode::kReservedFor);
  EXPECT_EQ(code(fits, Outcome::kWaits, kernel::kNone, [](core::JobPass& w) { w.gave_up = true; }), ReasonCode::kBudget);
  EXPECT_EQ(code(fits, Outcome::kWaits, kernel::kNone, as_it_is), ReasonCode::kFragmented);
}

// Two GPUs are free of a type with four; none of a type with sixteen, the only one where twelve can ever run.
TEST(Reasons, ATypeThatCouldNeverHoldTheJobIsNotWhatItLacks) {
  ProblemBuilder b;
  b.type(0), b.type(0);
  b.node({.gpus = 4});
  const int first = b.node({.type = 1}), second = b.node({.type = 1});
  const int job = b.job({b.demand({.groups = {{.members = 12}}}), b.demand({.groups = {{.members = 12}}, .type = 1})});
  const int large = b.demand({.groups = {{.members = 8}}, .type = 1});
  b.hold(b.gang(2), {0, low(2)});
  b.hold(b.job({large}), {first, low(8)});
  b.hold(b.job({large}), {second, low(8)});
  const Problem p = b.build();
  const Reason reason = explain(p, pass_of(job, Outcome::kWaits));

  EXPECT_EQ(reason.gpu_type, 1);
  EXPECT_EQ(reason.missing, 12);
}

TEST(Reasons, SpreadAndSegmentsAreFragmentation) {
  ProblemBuilder b;
  b.rack("r0", {8}).rack("r1", {8});
  GroupSpec spread, segment;
  spread.members = 5;
  spread.spread_most = 2;
  spread.spread = {kSwitchTopology, 1};
  segment.members = 12;
  segment.segment_size = 6;
  segment.segment = {kSwitchTopology, 1};
  const int spreads = b.ask(spread), segments = b.ask(segment);
  b.hold(b.gang(1), {1, low(3)});
  const Problem p = b.build();

  EXPECT_EQ(sentence(explain(p, pass_of(spreads))),
            "needs 5 GPUs spread by rack; 4 of them can still be placed so; 13 free in all after this plan");
  EXPECT_EQ(sentence(explain(p, pass_of(segments))),
            "needs 12 GPUs as 2 segments of 6 GPUs, each in one rack; 1 of 2 still fits; 13 free in all after this plan");
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
  const Reason r = explain(b.build(), pass_of(job));

  EXPECT_EQ(r.code, ReasonCode::kInsufficientGpus);
  EXPECT_EQ(r.best, 0);
}

// The existing share leaves half of the GPU, which no other job may have.
TEST(Reasons, SharesHaveNoRoomOnAGpuThatIsBeingReleased) {
  ProblemBuilder b;
  b.node({.gpus = 1, .sharing = true, .busy = 1});
  GroupSpec share;
  share.share_ppm = 500'000;
  const int job = b.ask(share);
  b.hold(b.gang(1), {0, 1, 500'000, 0, 0, 0});
  const Reason r = explain(b.build(), pass_of(job));

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
  const Reason r = explain(b.build(), pass_of(job));

  EXPECT_EQ(sentence(r), "needs 5 GPUs; 4 free after this plan; would start if 1 more were free");
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
    const Reason r = explain(p, pass_of(job));
    return std::string(r.certified ? "never: " : "now: ") + sentence(r);
  };

  EXPECT_EQ(text(total), "never: needs 29 GPUs; the cluster has 28");
  EXPECT_EQ(text(rack).substr(0, 58), "never: needs 17 GPUs in one rack; largest rack has 16: d" + text(rack).substr(56, 2));
  EXPECT_EQ(text(node), "never: needs 9 GPUs on one node; the largest node has 8");
  EXPECT_EQ(text(pieces), "never: needs 24 GPUs as 4 members of 6 GPUs, each on one node; the cluster holds 3 of 4");
  EXPECT_EQ(text(filter), "never: needs 9 GPUs; the nodes that its constraints allow have 4");
  EXPECT_EQ(text(none), "never: needs t1 GPUs; the cluster has none");
  EXPECT_EQ(text(quota), "never: needs 4 GPUs; queue q0 allows 3 at most");
  EXPECT_EQ(text(small), "never: needs 96 GiB of memory on each GPU; t0 has 80 GiB");
}

TEST(ReasonCertificates, AreNotGivenForWhatOthersOnlyHold) {
  ProblemBuilder b;
  b.rack("r0", {8});
  const int job = b.gang(8);
  b.hold(b.gang(1), {0, low(8)});

  EXPECT_FALSE(explain(b.build(), pass_of(job)).certified);
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

  EXPECT_FALSE(explain(b.build(), pass_of(job)).certified);
}

TEST(ReasonCertificates, AreNotDrawnFromFiltersThatPass) {
  ProblemBuilder b;
  b.rack("r0", {8, 8});
  GroupSpec nine;
  nine.members = 9;
  const int job = b.job({b.demand({{nine}, 0, {1}})});
  const Problem p = b.build();

  EXPECT_TRUE(explain(p, pass_of(job)).certified);
  EXPECT_FALSE(explain(p, pass_of(job), kNever, {0b11}).certified);
}

}  // namespace berth::test::reasons_test
