#include <gtest/gtest.h>

#include "tests/reference/solve.hpp"

/// Gangs with a tree of groups: section 5 of docs/placement.md.
namespace berth::test::tree_test {

constexpr At kRack{kSwitchTopology, 1}, kPod{kSwitchTopology, 2};

// pod a: rack 0: 1 1, rack 1: 1                 3 free: not enough for the tree's 4
// pod b: rack 0: 2,   rack 1: 1, rack 2: 1      4 free, but the second pair has no rack
// pod c: rack 0: 2,   rack 1: 1 1, rack 2: 1    5 free: fits
//   nodes:       a 0 1 2     b 3 4 5     c 6 7 8 9
ProblemBuilder three_pods() {
  ProblemBuilder b;
  b.rack("a/0", {1, 1}).rack("a/1", {1});
  b.rack("b/0", {2}).rack("b/1", {1}).rack("b/2", {1});
  b.rack("c/0", {2}).rack("c/1", {1, 1}).rack("c/2", {1});
  return b;
}

// One pod for all; each of two pairs in one rack.
GroupSpec two_pairs() {
  const GroupSpec pair{.members = 2, .require = kRack};
  return {.members = 0, .require = kPod, .children = {pair, pair}};
}

TEST(Tree, RequireAtTwoDepthsGoesOnToTheNextPod) {
  ProblemBuilder b = three_pods();
  b.ask(two_pairs());
  b.gang(1, 2);  // pod b got its GPUs back
  const ResultBuffers result = solve(b.build());

  EXPECT_EQ(brief(result), (Lines{"placed g1 6:2 g2 7:1 8:1", "placed 3:1"}));
}

TEST(Tree, TriesThatRunOutGiveUp) {
  ProblemBuilder b = three_pods();
  b.ask(two_pairs());
  const Problem p = b.build();
  PassCase pass = pass_over(p);
  pass.max_tries = 1;  // only pod b
  const ResultBuffers result = solve(p, pass);

  EXPECT_EQ(brief(result, 0), "gave up");
}

// The lists end with the tries: no try was omitted.
TEST(Tree, AllTriesFailingIsNoGivingUp) {
  ProblemBuilder b;
  b.rack("b/0", {2}).rack("b/1", {1}).rack("b/2", {1});
  b.ask(two_pairs());
  const Problem p = b.build();
  PassCase pass = pass_over(p);
  pass.max_tries = 1;
  const ResultBuffers result = solve(p, pass);

  EXPECT_EQ(brief(result, 0), "waits");
}

// The single member takes node 0 (lowest of equals), which splits the only rack that could hold the pair: it is not moved.
TEST(Tree, PlacedSiblingsAreNotMoved) {
  ProblemBuilder b;
  b.rack("x", {1, 1}).rack("y", {1});
  b.ask({.members = 0, .children = {{.members = 1}, {.members = 2, .require = kRack}}});
  b.ask({.members = 0, .children = {{.members = 2, .require = kRack}, {.members = 1}}});

  EXPECT_EQ(brief(solve(b.build())), (Lines{"waits", "placed g1 0:1 1:1 g2 2:1"}));
}

// Racks 4 2 3 (two nodes each): the group of 1 + 2 prefers one rack; least free first: rack 1 (2) is too small, rack 2 (3) does.
TEST(Tree, PreferredDomainsComeTightestFirst) {
  ProblemBuilder b;
  b.rack("0", {2, 2}).rack("1", {1, 1}).rack("2", {1, 2});
  const GroupSpec tree{.members = 1, .prefer = kRack, .children = {{.members = 2}}};
  b.ask(tree);
  b.ask(tree);
  b.ask(tree);  // left: 1 in rack 0, 2 in rack 1: the whole set comes last

  const Lines lines = brief(solve(b.build()));

  // rack 2: the member takes the 1-GPU node 4, the child node 5. rack 0: member on 0, child on 1. Then node 0 (lowest of the
  // nodes with one GPU); the child fits no node, but rack 1.
  EXPECT_EQ(lines, (Lines{"placed 4:1 g1 5:2", "placed 0:1 g1 1:2", "placed 0:1 g1 2:1 3:1"}));
}

// Required pod, preferred rack: pod a (4 free) comes before pod b (5). Inside a, rack a/1 (3) holds the tree.
TEST(Tree, RequireBoundsWhatIsPreferred) {
  ProblemBuilder b;
  b.rack("a/0", {1}).rack("a/1", {3}).rack("b/0", {3}).rack("b/1", {2});
  b.ask({.members = 0, .require = kPod, .prefer = kRack, .children = {{.members = 2}, {.members = 1}}});
  b.ask({.members = 0, .require = kPod, .prefer = kRack, .children = {{.members = 2}, {.members = 2}}});

  // the second needs 4: pod b, no rack of which has 4, so b as a whole: 2 fit best on node 3, then 2 on node 2
  EXPECT_EQ(brief(solve(b.build())), (Lines{"placed g1 1:2 g2 1:1", "placed g1 3:2 g2 2:2"}));
}

// Three depths: a pod holds two replicas, a replica is in one rack and has a head of 1 GPU and 2 workers spread over nodes.
// pod a: racks 1 1 1 | 2 1 1 (the tree needs 6)
TEST(Tree, SpreadInsideNestedGroups) {
  ProblemBuilder b;
  b.rack("a/0", {1, 1, 1}).rack("a/1", {2, 1, 1});
  const GroupSpec workers{.members = 2, .spread_most = 1, .spread = {kSwitchTopology, 0}};
  const GroupSpec replica{.members = 0, .require = kRack, .children = {{.members = 1}, workers}};
  b.ask({.members = 0, .require = kPod, .children = {replica, replica}});

  // rack 0 (3 free) first: head on 0, workers on 1 and 2. rack 1: head on 4 (tightest), workers on 5 and 3 (least free first).
  EXPECT_EQ(brief(solve(b.build()), 0), "placed g2 0:1 g3 1:1 2:1 g5 4:1 g6 5:1 3:1");
}

// Two root groups, placed separately: the second uses what the first left. Both or none.
TEST(Tree, ForestIsAllOrNothing) {
  ProblemBuilder b;
  b.rack("", {2, 3});
  b.job({b.demand({.groups = {{.members = 2, .gpus = 1}, {.members = 2, .gpus = 2}}})});
  b.job({b.demand({.groups = {{.members = 3}, {.members = 2}}})});

  EXPECT_EQ(brief(solve(b.build())), (Lines{"waits", "placed 1:3 g1 0:2"}));
}

}  // namespace berth::test::tree_test
