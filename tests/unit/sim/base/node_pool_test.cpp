#include "host/sim/base/node_pool.hpp"

#include <gtest/gtest.h>

#include "host/io/traces/importers.hpp"

namespace berth::sim::node_pool_test {
namespace {

using Taken = std::vector<PooledGpus>;

Node node(const std::string& id, const std::string& type, std::int32_t gpus, std::vector<std::string> virtual_clusters = {}) {
  Node one;
  one.id = id;
  one.gpu_type = type;
  one.gpus = gpus;
  one.virtual_clusters = std::move(virtual_clusters);
  return one;
}

Snapshot cluster_of(std::vector<Node> nodes, const std::vector<std::string>& types) {
  Snapshot cluster;
  for (const std::string& id : types) {
    cluster.gpu_types.push_back({});
    cluster.gpu_types.back().id = id;
  }
  cluster.nodes = std::move(nodes);
  return cluster;
}

}  // namespace

TEST(NodePool, SmallJobsTakeTheNodeWithFewestFreeGpusThatSuffice) {
  NodePool pool(io::uniform_cluster(3, 8));
  const int any = pool.kind({}, "");
  Taken first, second, third;

  ASSERT_TRUE(pool.take(any, 6, first));
  ASSERT_TRUE(pool.take(any, 4, second));
  ASSERT_TRUE(pool.take(any, 2, third));

  EXPECT_EQ(first, (Taken{{0, 0x3f}}));
  EXPECT_EQ(second, (Taken{{1, 0x0f}}));
  EXPECT_EQ(third, (Taken{{0, 0xc0}}));
  EXPECT_EQ(pool.free_gpus(), 12);
}

TEST(NodePool, AJobThatFitsOneNodeIsNeverSpread) {
  NodePool pool(io::uniform_cluster(2, 4));
  const int any = pool.kind({}, "");
  Taken taken;
  ASSERT_TRUE(pool.take(any, 3, taken));
  ASSERT_TRUE(pool.take(any, 3, taken));

  EXPECT_FALSE(pool.take(any, 2, taken));  // one GPU free on each of two nodes
  EXPECT_EQ(pool.free_gpus(), 2);
}

TEST(NodePool, LargeJobsTakeWholeNodesAndTheRestByBestFit) {
  NodePool pool(io::uniform_cluster(4, 8));
  const int any = pool.kind({}, "");
  Taken small, large;
  ASSERT_TRUE(pool.take(any, 5, small));

  ASSERT_TRUE(pool.take(any, 19, large));

  EXPECT_EQ(large, (Taken{{1, 0xff}, {2, 0xff}, {0, 0xe0}}));
  EXPECT_FALSE(pool.take(any, 16, small));  // 8 free on one node
  pool.give(large);
  EXPECT_EQ(pool.free_gpus(), 27);
  EXPECT_TRUE(pool.take(any, 24, large));
}

TEST(NodePool, OneTypeAJobAndFewestNodes) {
  NodePool pool(cluster_of({node("a", "small", 2), node("b", "small", 2), node("c", "big", 8)}, {"small", "big"}));
  Taken taken;

  ASSERT_TRUE(pool.take(pool.kind({}, ""), 4, taken));
  EXPECT_EQ(taken, (Taken{{2, 0x0f}}));  // one big node rather than two small ones
  ASSERT_TRUE(pool.take(pool.kind({"small"}, ""), 4, taken));
  EXPECT_EQ(taken, (Taken{{0, 0x3}, {1, 0x3}}));
  EXPECT_FALSE(pool.take(pool.kind({}, ""), 5, taken));
  EXPECT_FALSE(pool.take(pool.kind({"other"}, ""), 1, taken));
}

TEST(NodePool, ATieBetweenTypesGoesToTheFirstId) {
  NodePool pool(cluster_of({node("a", "z", 4), node("b", "y", 4)}, {"z", "y"}));
  Taken taken;

  ASSERT_TRUE(pool.take(pool.kind({}, ""), 4, taken));

  EXPECT_EQ(taken, (Taken{{1, 0xf}}));
}

TEST(NodePool, VirtualClustersKeepToTheirNodes) {
  NodePool pool(cluster_of({node("a", "g", 4, {"v"}), node("b", "g", 4), node("c", "g", 4, {"w"})}, {"g"}));
  Taken taken;

  EXPECT_TRUE(pool.owns_nodes("v"));
  EXPECT_FALSE(pool.owns_nodes("x"));
  ASSERT_TRUE(pool.take(pool.kind({}, "v"), 8, taken));
  EXPECT_EQ(taken, (Taken{{0, 0xf}, {1, 0xf}}));
  EXPECT_FALSE(pool.take(pool.kind({}, "x"), 1, taken));
  EXPECT_FALSE(pool.take(pool.kind({}, ""), 1, taken));
  EXPECT_TRUE(pool.take(pool.kind({}, "w"), 4, taken));
}

TEST(NodePool, OnlyReadyNodesAndSoundGpusCount) {
  std::vector<Node> nodes{node("a", "g", 2), node("b", "g", 2), node("c", "g", 64), node("d", "g", 0)};
  nodes[0].state = NodeState::kDrain;
  nodes[1].gpu_list = {{0, GpuState::kFailed, kNever, -1}, {1, GpuState::kOk, kNever, -1}};
  NodePool pool(cluster_of(nodes, {"g"}));
  Taken taken;

  EXPECT_EQ(pool.free_gpus(), 65);
  ASSERT_TRUE(pool.take(pool.kind({}, ""), 1, taken));
  EXPECT_EQ(taken, (Taken{{1, 0x2}}));
  ASSERT_TRUE(pool.take(pool.kind({}, ""), 64, taken));
  EXPECT_EQ(taken, (Taken{{2, ~std::uint64_t{0}}}));
}

TEST(NodePool, NodesRankByDomainAndIdNotByRow) {
  std::vector<Node> nodes{node("a", "g", 2), node("b", "g", 2)};
  nodes[0].domain[0] = "r2";
  nodes[1].domain[0] = "r1";
  NodePool pool(cluster_of(nodes, {"g"}));
  Taken taken;

  ASSERT_TRUE(pool.take(pool.kind({}, ""), 2, taken));

  EXPECT_EQ(taken, (Taken{{1, 0x3}}));
}

}  // namespace berth::sim::node_pool_test
