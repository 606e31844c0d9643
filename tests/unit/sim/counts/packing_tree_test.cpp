#include "host/sim/counts/packing_tree.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "host/io/traces/importers.hpp"
#include "host/sim/counts/node_counts.hpp"
#include "tests/support/random.hpp"

namespace berth::sim::packing_tree_test {
namespace {

std::string take(PackingTree& tree, std::int64_t gpus) {
  std::vector<PackingTree::Part> parts;
  tree.take(gpus, parts);
  std::string text;
  for (const PackingTree::Part& part : parts) text += fmt::format("{}:{} ", part.node, part.gpus);
  return text;
}

PackingTree tree_of(const std::vector<std::int32_t>& free, const std::vector<std::vector<std::int32_t>>& domains = {}) {
  PackingTree tree;
  tree.begin(free, domains);
  return tree;
}

// Nodes 0 and 1 in rack 0, and so on; racks 0 and 1 in row 0, rack 2 in row 1.
const std::vector<std::vector<std::int32_t>> kRacksInRows{{0, 0, 1, 1, 2, 2}, {0, 0, 0, 0, 1, 1}};

}  // namespace

TEST(IndexSet, FindsTheNextOneAcrossWordsAndBlocks) {
  for (const std::int32_t n : {1, 63, 64, 65, 4096, 4097, 20'000}) {
    SCOPED_TRACE(n);
    test::Random random(7);
    IndexSet set(static_cast<std::size_t>(n));
    std::set<std::int32_t> want;
    for (int i = 0; i < 300; ++i) {
      const std::int32_t one = random.below(n), from = random.below(n);
      if (random.percent(60)) {
        set.insert(one);
        want.insert(one);
      } else if (!want.empty()) {
        set.erase(*want.begin());
        want.erase(want.begin());
      }
      const auto next = want.lower_bound(from);
      ASSERT_EQ(set.next(from), next == want.end() ? IndexSet::kNone : *next);
      ASSERT_EQ(set.next(0), want.empty() ? IndexSet::kNone : *want.begin());
    }
  }
}

TEST(PackingTree, OneNodeThatHoldsItAllWithTheFewestLeft) {
  PackingTree tree = tree_of({4, 2, 3, 2});

  EXPECT_EQ(take(tree, 2), "1:2 ");
  EXPECT_EQ(take(tree, 2), "3:2 ");
  EXPECT_EQ(take(tree, 1), "2:1 ");
  EXPECT_EQ(take(tree, 1), "2:1 ");
  EXPECT_EQ(take(tree, 2), "0:2 ");
}

TEST(PackingTree, ElseTheFullestGiveAllTheyHaveAndTheRestFitsBest) {
  PackingTree tree = tree_of({3, 4, 0, 1, 2, 4});

  EXPECT_EQ(take(tree, 9), "1:4 5:4 3:1 ");
  EXPECT_EQ(take(tree, 5), "0:3 4:2 ");
}

// Racks have 8, 6 and 6 free GPUs.
TEST(PackingTree, InTheTightestDomainOfTheLowestLevelThatHoldsIt) {
  PackingTree tree = tree_of({4, 4, 3, 3, 4, 2}, kRacksInRows);

  EXPECT_EQ(take(tree, 5), "2:3 3:2 ") << "racks 1 and 2 are as tight: the first";
  EXPECT_EQ(take(tree, 5), "4:4 5:1 ") << "rack 1 has one left, rack 0 more than rack 2";
}

// Row 0 has 14 free GPUs, row 1 has 6.
TEST(PackingTree, ADomainIsFilledByTheSameRuleOneLevelLower) {
  PackingTree tree = tree_of({4, 4, 3, 3, 4, 2}, kRacksInRows);

  EXPECT_EQ(take(tree, 12), "0:4 1:4 2:3 3:1 ") << "rack 0 gives all of its own, rack 1 what is left";
  EXPECT_EQ(take(tree, 7), "4:4 5:2 3:1 ") << "no row holds it: row 1 gives all, row 0 the rest";
}

TEST(PackingTree, WhatIsGivenBackIsThereAgain) {
  PackingTree tree = tree_of({2, 2, 1, 1, 2, 2}, kRacksInRows);
  EXPECT_EQ(take(tree, 10), "0:2 1:2 2:1 3:1 4:2 5:2 ");

  tree.change(1, 1);
  tree.change(4, 2);
  tree.change(5, 1);

  EXPECT_EQ(take(tree, 3), "4:2 5:1 ");
  EXPECT_EQ(take(tree, 1), "1:1 ");
}

TEST(PackingTree, EmptiestNodesComeFirst) {
  PackingTree tree = tree_of({1, 3, 2, 3, 0, 2}, kRacksInRows);
  std::vector<PackingTree::Part> parts;

  tree.take_emptiest(7, parts);

  std::string text;
  for (const PackingTree::Part& part : parts) text += fmt::format("{}:{} ", part.node, part.gpus);
  EXPECT_EQ(text, "1:3 3:3 2:1 ") << "of equal nodes the first";
  EXPECT_EQ(take(tree, 2), "5:2 ") << "and the rest is still counted";
}

TEST(NodeCounts, GpusOfANodeComeFromAsFewInnerGroupsAsCan) {
  Snapshot cluster = io::uniform_cluster(1, 8);
  for (std::int32_t g = 0; g < 8; ++g) cluster.nodes[0].gpu_list.push_back({g, GpuState::kOk, kNever, g / 4});
  for (const kernel::Packing packing : {kernel::Packing::kTopology, kernel::Packing::kCount}) {
    NodeCounts nodes;
    ASSERT_TRUE(nodes.begin(cluster, {}, packing));
    std::vector<CountedGpus> first, second, third;

    nodes.take(0, 1, first);
    nodes.take(0, 4, second);
    nodes.give(second);
    nodes.take(0, 5, third);

    EXPECT_EQ(first[0].mask, 0b0000'0001u);
    EXPECT_EQ(second[0].mask, 0b1111'0000u) << "the other group has three";
    EXPECT_EQ(third[0].mask, 0b1111'0010u) << "no group has five: the fuller one first";
  }
}

TEST(NodeCounts, AnswersForClustersAllOfWhichWorks) {
  const auto begins = [](const auto& changed) {
    Snapshot cluster = io::uniform_cluster(2, 2);
    for (std::int32_t g = 0; g < 2; ++g) cluster.nodes[1].gpu_list.push_back({g});
    changed(cluster.nodes[1]);
    return NodeCounts().begin(cluster, {}, kernel::Packing::kTopology);
  };

  EXPECT_TRUE(begins([](Node&) {}));
  EXPECT_FALSE(begins([](Node& node) { node.gpu_list[1].state = GpuState::kFailed; }));
  EXPECT_FALSE(begins([](Node& node) { node.state = NodeState::kDrain; }));
  EXPECT_FALSE(begins([](Node& node) { node.available_until_us = 5 * kSecond; }));
}

TEST(NodeCounts, NamesTheNodesInTheOrderInWhichTheyWereTaken) {
  const Snapshot cluster = io::uniform_cluster(3, 4);
  NodeCounts nodes;
  ASSERT_TRUE(nodes.begin(cluster, {}, kernel::Packing::kTopology));
  std::vector<CountedGpus> one, gang;

  nodes.take(0, 1, one);
  nodes.take(0, 9, gang);

  EXPECT_EQ(nodes.names_of(one), "n0");
  EXPECT_EQ(nodes.names_of(gang), "n1 n2 n0");
}

}  // namespace berth::sim::packing_tree_test
