// What is said after "would start if", by hand: enough, whichever GPUs of those that it speaks of become free.
#include <gtest/gtest.h>

#include "tests/unit/core/reasons/reasons_support.hpp"

namespace berth::test::smallest_change_test {
namespace {

constexpr std::uint64_t low(int n) { return (std::uint64_t{1} << n) - 1; }

GroupSpec apart(std::int32_t members, std::int32_t gpus, std::int32_t most = 1) {
  GroupSpec group;
  group.members = members;
  group.gpus = gpus;
  group.spread_most = most;
  group.spread = {kSwitchTopology, 0};
  return group;
}

GroupSpec in_pieces(std::int32_t members, std::int32_t gpus) {
  GroupSpec group;
  group.members = members;
  group.gpus = gpus;
  return group;
}

/// Nodes with N GPUs, of which M are free; another job holds the rest.
ProblemBuilder nodes(const std::vector<std::pair<int, int>>& gpus_and_free, const NodeSpec& like = {}) {
  ProblemBuilder b;
  const int holder = b.gang(1);
  for (const auto& [gpus, free] : gpus_and_free) {
    NodeSpec node = like;
    node.gpus = gpus;
    b.hold(holder, {b.node(node), low(gpus - free)});
  }
  return b;
}

std::string told(ProblemBuilder& b, int job) { return sentence(explain(b.build(), pass_of(job)), job); }

}  // namespace

TEST(SmallestChange, OfASpreadGangIsMoreNodes) {
  ProblemBuilder b = nodes({{8, 8}, {8, 0}, {8, 0}, {8, 0}});

  EXPECT_EQ(told(b, b.ask(apart(2, 4))), "needs 8 GPUs, 4 on each of 2 nodes; 1 node has room; would start if 1 more node had 4 free");
  EXPECT_EQ(told(b, b.ask(apart(3, 4))),
            "needs 12 GPUs, 4 on each of 3 nodes; 1 node has room; would start if 2 more nodes had 4 free each");
  EXPECT_EQ(told(b, b.ask(apart(4, 1))),
            "needs 4 GPUs, 1 on each of 4 nodes; 1 node has room; would start if 3 more nodes had 1 free each");
}

TEST(SmallestChange, OfWhichSeveralMayShareANodeCountsNoMoreOfThem) {
  ProblemBuilder b = nodes({{8, 8}, {8, 0}, {8, 0}});

  EXPECT_EQ(
      told(b, b.ask(apart(5, 2, 2))),
      "needs 10 GPUs as 5 members of 2 GPUs, at most 2 of them on one node; 2 of 5 still fit; would start if 3 more members of 2 GPUs "
      "had room, counting at most 2 a node");
  EXPECT_EQ(told(b, b.ask(apart(4, 1, 2))),
            "needs 4 GPUs, at most 2 on one node; 2 of 4 still fit; would start if 2 more were free, counting at most 2 a node");
}

TEST(SmallestChange, OfTheLastMemberNamesTheNodeThatIsNearest) {
  ProblemBuilder b = nodes({{8, 8}, {8, 1}, {8, 3}, {2, 1}});

  EXPECT_EQ(told(b, b.ask(apart(2, 4))), "needs 8 GPUs, 4 on each of 2 nodes; 1 node has room; would start if 1 more were free on n2");
}

TEST(SmallestChange, IsNotStatedWhereTheNodesCouldNeverHoldIt) {
  NodeSpec closed;
  closed.closed = true;
  ProblemBuilder b = nodes({{8, 8}, {8, 0}, {2, 2}});
  b.node(closed);

  EXPECT_EQ(told(b, b.ask(apart(3, 4))), "needs 12 GPUs, 4 on each of 3 nodes; 1 node has room") << "the fourth node is drained";
}

TEST(SmallestChange, SaysOnWhichNodesWhereTheJobMayNotUseAll) {
  ProblemBuilder b = nodes({{8, 0}, {8, 8}, {8, 0}, {8, 1}});
  const int plain = b.job({b.demand({{in_pieces(9, 1)}, 0, {0, 1, 2}})}), wide = b.job({b.demand({{apart(3, 1)}, 0, {0, 1, 2}})});
  const int pieces = b.job({b.demand({{in_pieces(2, 5)}, 0, {0, 1, 2}})}), one = b.job({b.demand({{in_pieces(1, 4)}, 0, {0, 2}})});

  EXPECT_EQ(told(b, plain),
            "needs 9 GPUs; 8 free after this plan on nodes that it may use, 9 in all; would start if 1 more were free on such nodes");
  EXPECT_EQ(told(b, wide),
            "needs 3 GPUs, 1 on each of 3 nodes; 1 node that it may use has room; would start if 2 more such nodes had 1 free "
            "each");
  EXPECT_EQ(told(b, pieces),
            "needs 10 GPUs as 2 members of 5 GPUs, each on one node; 8 free after this plan on nodes that it may use, 9 in all; would "
            "start if 1 more member of "
            "5 GPUs had room on such nodes");
  EXPECT_EQ(told(b, one),
            "needs 4 GPUs on one node; 0 free after this plan on nodes that it may use, 9 in all; would start if 1 more member of 4 GPUs "
            "had room on such nodes");
}

TEST(SmallestChange, NamesCoresAndMemoryWhereGpusAloneAreNotEnough) {
  NodeSpec node;
  node.cpu = 16'000;
  node.memory = std::int64_t{64} << 30;
  ProblemBuilder b;
  b.node(node), b.node(node);
  GroupSpec group = in_pieces(2, 8);
  group.cpu = 16'000;
  group.memory = std::int64_t{64} << 30;
  const int job = b.ask(group), other = b.gang(1);
  b.hold(other, {0, low(8), kWholeGpu, 1'000, 0, 0});
  const Problem p = b.build();
  PlainNames names;
  names.change(job).constraints.cpu_milli_per_gpu = 2'000;
  names.change(job).constraints.memory_bytes_per_gpu = std::int64_t{8} << 30;
  const Reason r = explain(p, pass_of(job));

  EXPECT_TRUE(r.with_cpu_and_memory);
  EXPECT_EQ(core::render_would_start_if(names, r, job), "1 more member of 8 GPUs had room, with 16 cores and 64 GiB of memory");
}

// Of the two nodes where GPUs may become free only one has enough cores; the third is drained.
TEST(SmallestChange, CountsNodesOnlyThatHaveTheCores) {
  NodeSpec large, small;
  large.cpu = 16'000;
  small.cpu = 4'000;
  NodeSpec drained = large;
  drained.closed = true;
  ProblemBuilder b;
  b.node(large), b.node(small), b.node(drained);
  GroupSpec once = in_pieces(1, 8), twice = in_pieces(2, 8);
  once.cpu = twice.cpu = 16'000;
  const int one = b.ask(once), two = b.ask(twice), other = b.gang(1);
  b.hold(other, {0, low(8)}), b.hold(other, {1, low(8)});
  const Problem p = b.build();

  EXPECT_EQ(explain(p, pass_of(one)).missing, 8);
  EXPECT_EQ(explain(p, pass_of(two)).missing, 0);
}

// A share of another job may release too little memory when it ends.
TEST(SmallestChange, OfSharesThatNeedMemoryIsNotKnown) {
  NodeSpec node;
  node.gpus = 1;
  node.sharing = true;
  GroupSpec share;
  share.share_ppm = 500'000;
  GroupSpec with_memory = share;
  with_memory.gpu_memory = std::int64_t{8} << 30;
  ProblemBuilder b;
  b.type(std::int64_t{16} << 30);
  b.node(node);
  const int any = b.ask(share), large = b.ask(with_memory);
  const int other = b.gang(1);
  b.hold(other, {0, 1, 250'000, 0, 0, std::int64_t{2} << 30}).hold(other, {0, 1, 500'000, 0, 0, std::int64_t{12} << 30});
  const Problem p = b.build();

  EXPECT_EQ(explain(p, pass_of(any)).missing, 1);
  EXPECT_EQ(explain(p, pass_of(large)).missing, 0);
}

}  // namespace berth::test::smallest_change_test
