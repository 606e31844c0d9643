#include <gtest/gtest.h>

#include "tests/reference/solve.hpp"

/// Which nodes and domains a flat group goes to: section 2 of docs/placement.md.
namespace berth::test::level_test {

// free 4 2 3: two GPUs fit exactly on node 1; then 1 GPU is tightest on node 2 (3 < 4).
TEST(Level, SingleNodeIsBestFit) {
  ProblemBuilder b;
  b.rack("", {4, 2, 3});
  b.gang(1, 2);
  b.gang(1, 1);

  EXPECT_EQ(brief(solve(b.build())), (Lines{"placed 1:1", "placed 2:1"}));
}

TEST(Level, TiesFallToTheLowerRank) {
  ProblemBuilder b;
  b.rack("", {2, 2, 2});
  b.gang(1, 2);
  b.gang(2, 1);

  EXPECT_EQ(brief(solve(b.build())), (Lines{"placed 0:1", "placed 1:2"}));
}

// Cores: node 0 has 4 GPUs and room for one member, node 1 has 3 GPUs and room for three. GPUs decide: node 1 for any number.
TEST(Level, NodesRankByGpusNotByCores) {
  ProblemBuilder b;
  b.node({.gpus = 4, .cpu = 1000});
  b.node({.gpus = 3});
  GroupSpec one{.cpu = 1000};
  b.ask(one);

  EXPECT_EQ(brief(solve(b.build())), (Lines{"placed 1:1"}));
}

TEST(Level, CoresAndMemoryLimitMembers) {
  ProblemBuilder b;
  b.node({.gpus = 8, .cpu = 5000, .memory = 100});
  b.node({.gpus = 8, .cpu = 5000, .memory = 40});
  GroupSpec group{.members = 5, .cpu = 2000, .memory = 30};  // holds min(8, 2, 3) = 2 and min(8, 2, 1) = 1
  b.ask(group);
  group.members = 3;
  b.ask(group);

  EXPECT_EQ(brief(solve(b.build())), (Lines{"waits", "placed 0:2 1:1"}));
}

// rack a: 2 2, rack b: 1 2, rack c: 3 3. No node holds four; rack b holds 3, a 4, c 6.
TEST(Level, TightestRackThatFitsWins) {
  ProblemBuilder b;
  b.rack("a", {2, 2}).rack("b", {1, 2}).rack("c", {3, 3});
  b.gang(4);
  b.gang(3);  // a node of c holds 3: level 0 comes before rack b
  b.gang(3);  // then c's other node
  b.gang(3);  // then rack b
  b.gang(1);

  EXPECT_EQ(brief(solve(b.build())), (Lines{"placed 0:2 1:2", "placed 4:3", "placed 5:3", "placed 3:2 2:1", "waits"}));
}

// Kueue's BestFit example: nodes 3 3 2 1 and 7 members give 3 3 . 1
TEST(Level, SevenOnThreeThreeTwoOneTakeTheSmallestLast) {
  ProblemBuilder b;
  b.rack("", {3, 3, 2, 1});
  b.gang(7);

  EXPECT_EQ(brief(solve(b.build()), 0), "placed 0:3 1:3 3:1");
}

// KAI's example: zone A racks 2 1 1 1, zone B racks 2 2 2; 3 members in one zone, in one rack if possible: A holds 5, B
// 6.
TEST(Level, RequiredZoneIsTheTightestAndItsLargestRackComesFirst) {
  ProblemBuilder b;
  b.rack("A/1", {2}).rack("A/2", {1}).rack("A/3", {1}).rack("A/4", {1}).rack("B/1", {2}).rack("B/2", {2}).rack("B/3", {2});
  b.ask({.members = 3, .require = {kSwitchTopology, 2}, .prefer = {kSwitchTopology, 1}});

  EXPECT_EQ(brief(solve(b.build()), 0), "placed 0:2 1:1");
}

// Nodes 0 and 1 are in no rack: together they hold 4, but have no name. Without require they are tighter than rack r
// (6).
TEST(Level, DomainWithoutNameNeverSatisfiesRequire) {
  ProblemBuilder b;
  b.rack("", {2, 2}).rack("r", {2, 2, 2});
  b.ask({.members = 4, .require = {kSwitchTopology, 1}});
  b.gang(4);

  EXPECT_EQ(brief(solve(b.build())), (Lines{"placed 2:2 3:2", "placed 0:2 1:2"}));
}

// The rack holds 6, no node holds 4.
TEST(Level, RequireNodeTakesOneNodeOrNone) {
  ProblemBuilder b;
  b.rack("r", {1, 2, 3});
  b.ask({.members = 4, .require = {kSwitchTopology, 0}});
  b.ask({.members = 2, .require = {kSwitchTopology, 0}});

  EXPECT_EQ(brief(solve(b.build())), (Lines{"waits", "placed 1:2"}));
}

// rack:    a a a b      x = {1, 2, 3} crosses the racks; what counts for a gang of one rack is {1, 2} of a and x.
// nvlink:  y x x x      The second gang finds 0 in a and 3 in b.
TEST(Level, PreferredDomainIsCutWithTheRequiredOne) {
  ProblemBuilder b;
  b.node({.gpus = 1, .path = {"a", "y"}});
  b.node({.gpus = 1, .path = {"a", "x"}});
  b.node({.gpus = 1, .path = {"a", "x"}});
  b.node({.gpus = 1, .path = {"b", "x"}});
  b.ask({.members = 2, .require = {kSwitchTopology, 1}, .prefer = {kNvlinkTopology, 1}});
  b.ask({.members = 2, .require = {kSwitchTopology, 1}, .prefer = {kNvlinkTopology, 1}});

  EXPECT_EQ(brief(solve(b.build())), (Lines{"placed 1:1 2:1", "waits"}));
}

TEST(Level, FilterTypeAndTakenGpusShutNodesOut) {
  ProblemBuilder b;
  b.type(0);
  b.type(0);
  b.node({.gpus = 2});
  b.node({.gpus = 2, .type = 1});
  b.node({.gpus = 3});
  b.job({b.demand({.groups = {{.gpus = 2}}, .nodes = {1, 2}})});  // node 1 has the wrong type
  b.job({b.demand({.groups = {{.gpus = 2}}, .type = 1})});
  const Problem p = b.build();
  PassCase pass = pass_over(p);
  pass.taken = {{1, 0b10}, {2, 0b1000001}};  // bits of GPUs that do not exist change nothing

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"placed 2:1", "waits"}));
  EXPECT_EQ(masks(solve(p, pass), 0), (std::vector<std::uint64_t>{0b110}));
}

// Node 0 goes away at 100 s, and it is 40 s: 60 s fit, 61 s and unknown times do not.
TEST(Level, JobEndsBeforeItsNodeGoesAway) {
  ProblemBuilder b;
  b.node({.gpus = 1, .until = 100 * kSecond});
  b.node({.gpus = 2});
  b.gang(1);
  b.gang(1);
  b.gang(1);
  const Problem p = b.build();
  PassCase pass = pass_over(p);
  pass.now = 40 * kSecond;
  pass.option_run = {61 * kSecond, kNever, 60 * kSecond};

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"placed 1:1", "placed 1:1", "placed 0:1"}));
}

// Capacity only: nodes 1 3 2 in rank order.
TEST(Level, CountTakesNodesAsTheyCome) {
  ProblemBuilder b;
  b.rack("", {1, 3, 2});
  b.gang(5);
  const Problem p = b.build();
  PassCase pass = pass_over(p);
  pass.packing = kernel::Packing::kCount;

  EXPECT_EQ(brief(solve(p, pass), 0), "placed 0:1 1:3 2:1");
  EXPECT_EQ(brief(solve(p), 0), "placed 1:3 2:2");
}

TEST(Level, CountKeepsToTheFirstRequiredDomainThatHoldsAll) {
  ProblemBuilder b;
  b.rack("a", {1, 1}).rack("b", {3, 3}).rack("c", {3});
  b.ask({.members = 3, .require = {kSwitchTopology, 1}});
  const Problem p = b.build();
  PassCase pass = pass_over(p);
  pass.packing = kernel::Packing::kCount;

  EXPECT_EQ(brief(solve(p, pass), 0), "placed 2:3");
}

// Nodes 1 3 2 3 by free GPUs, of equal ones by rank. The rest of node 2 is less than what node 1 had.
TEST(Level, EmptiestTakesTheNodesWithTheMostFreeGpusFirst) {
  ProblemBuilder b;
  b.rack("", {1, 3, 2, 3});
  b.gang(1);
  b.gang(6);
  const Problem p = b.build();
  PassCase pass = pass_over(p);
  pass.packing = kernel::Packing::kEmptiest;

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"placed 1:1", "placed 3:3 1:2 2:1"}));
}

TEST(Level, EmptiestCountsFreeGpusAndNotMembers) {
  ProblemBuilder b;
  b.rack("", {5, 4, 7});
  b.ask({.members = 4, .gpus = 2});
  b.ask({.members = 1, .gpus = 8});
  const Problem p = b.build();
  PassCase pass = pass_over(p);
  pass.packing = kernel::Packing::kEmptiest;

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"placed 2:3 0:1", "waits"}));
}

TEST(Level, EmptiestKeepsToTheEmptiestRequiredDomain) {
  ProblemBuilder b;
  b.rack("a", {1, 1}).rack("b", {3, 3}).rack("c", {4, 3}).rack("d", {7});
  b.ask({.members = 3, .require = {kSwitchTopology, 1}});
  b.ask({.members = 3, .require = {kSwitchTopology, 0}});
  const Problem p = b.build();
  PassCase pass = pass_over(p);
  pass.packing = kernel::Packing::kEmptiest;

  EXPECT_EQ(brief(solve(p, pass)), (Lines{"placed 4:3", "placed 6:3"})) << "c has 7 free as d, and comes first";
}

}  // namespace berth::test::level_test
