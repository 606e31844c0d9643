#include <gtest/gtest.h>

#include "tests/reference/solve.hpp"

/// Segments and spread: section 3 of docs/placement.md.
namespace berth::test::fill_test {

// Kueue's slices: nodes 6 5 4 3 2 hold 3 2 2 1 1 pairs. Six pairs: 3 on node 0; 2 on node 2 (fewer free than node 1); 1 on node 4.
TEST(Fill, SlicesOfTwoLeaveNoOddGpus) {
  ProblemBuilder b;
  b.rack("", {6, 5, 4, 3, 2});
  b.ask({.members = 12, .segment_size = 2, .segment = {kSwitchTopology, 0}});

  EXPECT_EQ(brief(solve(b.build()), 0), "placed 0:6 2:4 4:2");
}

// rack a: 1 1 1 (one pair), rack b: 2 1 (one pair), rack c: 1 (none). Three members would fit each of a and b; two pairs need both.
TEST(Fill, SegmentIsInOneRack) {
  ProblemBuilder b;
  b.rack("a", {1, 1, 1}).rack("b", {2, 1}).rack("c", {1});
  b.ask({.members = 4, .segment_size = 2, .segment = {kSwitchTopology, 1}});
  b.ask({.members = 2, .segment_size = 2, .segment = {kSwitchTopology, 1}});  // left: one in each rack

  EXPECT_EQ(brief(solve(b.build())), (Lines{"placed 0:1 1:1 3:2", "waits"}));
}

// racks 4 1 2 1, one member each: equal offers go to the rack with least free GPUs; the last one to the only rack left.
TEST(Fill, SpreadPutsOneInEachRack) {
  ProblemBuilder b;
  b.rack("a", {4}).rack("b", {1}).rack("c", {2}).rack("d", {1});
  b.ask({.members = 4, .spread_most = 1, .spread = {kSwitchTopology, 1}});
  b.ask({.members = 3, .spread_most = 1, .spread = {kSwitchTopology, 1}});  // left: 3 . 1 .

  EXPECT_EQ(brief(solve(b.build())), (Lines{"placed 1:1 3:1 2:1 0:1", "waits"}));
}

// At most two per node: three members leave the 4-GPU node for a rack of two nodes.
TEST(Fill, SpreadOverNodesNeedsMoreNodes) {
  ProblemBuilder b;
  b.rack("a", {4}).rack("b", {2, 3});
  b.ask({.members = 3, .spread_most = 2, .spread = {kSwitchTopology, 0}});

  // both nodes offer 2; the first with 2 is the one with least free GPUs, the last takes the remaining one
  EXPECT_EQ(brief(solve(b.build()), 0), "placed 1:2 2:1");
}

TEST(Fill, SegmentsAndSpreadTogether) {
  ProblemBuilder b;
  b.rack("a", {1, 1}).rack("b", {1, 1, 1});
  b.ask({.members = 4, .segment_size = 2, .segment = {kSwitchTopology, 1}, .spread_most = 1, .spread = {kSwitchTopology, 0}});

  EXPECT_EQ(brief(solve(b.build()), 0), "placed 0:1 1:1 2:1 3:1");
}

// rack a: 2 2 (two pairs), rack b: 1 1 (one pair); at most one per node. Both pairs go to a, which has only two nodes:
// the fill fails, though a pair in each would fit. The rule is greedy.
TEST(Fill, SegmentsAndSpreadMayFailWhereAnotherSplitWouldDo) {
  ProblemBuilder b;
  b.rack("a", {2, 2}).rack("b", {1, 1});
  b.ask({.members = 4, .segment_size = 2, .segment = {kSwitchTopology, 1}, .spread_most = 1, .spread = {kSwitchTopology, 0}});
  const ResultBuffers result = solve(b.build());

  EXPECT_EQ(brief(result, 0), "waits");
  EXPECT_EQ(result.n_entries, 0);
}

// Pairs on one node, at most two members per rack; rack a: 2 2, rack b: 2. The first pair uses up rack a's limit, the
// second goes to node 1 too and finds none left.
TEST(Fill, SpreadCountsRunOverAllSegments) {
  ProblemBuilder b;
  b.rack("a", {2, 2}).rack("b", {2});
  b.ask({.members = 4, .segment_size = 2, .segment = {kSwitchTopology, 0}, .spread_most = 2, .spread = {kSwitchTopology, 1}});
  b.ask({.members = 2, .segment_size = 2, .segment = {kSwitchTopology, 0}, .spread_most = 2, .spread = {kSwitchTopology, 1}});

  EXPECT_EQ(brief(solve(b.build())), (Lines{"waits", "placed 0:2"}));
}

// rack a: 2 2, rack b: 1 1, rack c: 1 1 1 1; pairs in racks, one member per node. The preferred NVLink domain x = a + b is tried first and
// fails (y and z hold 2); then rack c fits.
TEST(Fill, NextLevelIsTriedAfterAFailedFill) {
  ProblemBuilder b;
  for (int n = 0; n < 2; ++n) b.node({.gpus = 2, .path = {"a", "x"}});
  for (int n = 0; n < 2; ++n) b.node({.gpus = 1, .path = {"b", "x"}});
  for (int n = 0; n < 4; ++n) b.node({.gpus = 1, .path = {"c", n < 2 ? "y" : "z"}});
  b.ask({.members = 4,
         .segment_size = 2,
         .segment = {kSwitchTopology, 1},
         .prefer = {kNvlinkTopology, 1},
         .spread_most = 1,
         .spread = {kSwitchTopology, 0}});
  b.gang(4);  // rack a is whole: the failed fill changed nothing

  EXPECT_EQ(brief(solve(b.build())), (Lines{"placed 4:1 5:1 6:1 7:1", "placed 0:2 1:2"}));
}

// Levels of two topologies: members spread over power feeds while a rack is required.
// rack:  a a a b b b     rack a has feeds p p q (2 feeds), rack b p q r (3 feeds)
TEST(Fill, SpreadOverAnotherTopologyInsideARequiredRack) {
  ProblemBuilder b;
  const char* feeds[] = {"p", "p", "q", "p", "q", "r"};
  for (int n = 0; n < 6; ++n) b.node({.gpus = 2, .path = {n < 3 ? "a" : "b", "", feeds[n]}});
  b.ask({.members = 3, .require = {kSwitchTopology, 1}, .spread_most = 1, .spread = {kPowerTopology, 1}});

  EXPECT_EQ(brief(solve(b.build()), 0), "placed 3:1 4:1 5:1");
}

}  // namespace berth::test::fill_test
