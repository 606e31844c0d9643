#include "host/core/contention/virtual_clos.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

namespace berth::core::virtual_clos_test {
namespace {

ClosFabric fabric(std::int32_t spines, const std::vector<std::int32_t>& free_gpus, std::int32_t links) {
  return {spines, free_gpus, std::vector<std::int32_t>(free_gpus.size() * static_cast<std::size_t>(spines), links)};
}

TEST(VirtualClos, OneLeafNeedsNoLinks) {
  bool decided = false;
  const auto clos = virtual_clos(fabric(2, {8, 4, 5}, 0), 4, decided);
  ASSERT_TRUE(clos);
  EXPECT_EQ(clos->leaves, (std::vector<LeafGpus>{{1, 4}}));
  EXPECT_EQ(clos->spines, std::vector<std::int32_t>{});
  EXPECT_TRUE(decided);
}

TEST(VirtualClos, GangsReserveUntilNoneExists) {
  ClosFabric two = fabric(2, {4, 4, 4, 4}, 2);
  bool decided = false;
  const auto first = virtual_clos(two, 8, decided);
  ASSERT_TRUE(first);
  // Four GPUs a leaf need four links, and each spine has two.
  EXPECT_EQ(first->leaves, (std::vector<LeafGpus>{{0, 4}, {1, 4}}));
  EXPECT_EQ(first->spines, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(first->links(first->leaves[0]), 2);
  reserve(two, *first, true);
  EXPECT_EQ(two.free_gpus, (std::vector<std::int32_t>{0, 0, 4, 4}));
  EXPECT_EQ(two.links, (std::vector<std::int32_t>{0, 0, 0, 0, 2, 2, 2, 2}));
  EXPECT_FALSE(virtual_clos(two, 12, decided));
  EXPECT_TRUE(decided);
  two.at(3, 1) = 1;
  EXPECT_FALSE(virtual_clos(two, 8, decided)) << "a link of leaf 3 has gone";
  two.at(3, 1) = 2;
  EXPECT_TRUE(virtual_clos(two, 8, decided));
}

TEST(VirtualClos, OfAPlacedGangHasTheFewestSpines) {
  ClosFabric two = fabric(4, {0, 0, 0}, 2);
  two.at(0, 0) = 1;
  const std::vector<LeafGpus> leaves{{0, 3}, {2, 1}};
  const auto clos = virtual_clos_of(two, leaves);
  ASSERT_TRUE(clos);
  EXPECT_EQ(clos->spines, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(clos->links(leaves[0]), 2);
  EXPECT_EQ(clos->links(leaves[1]), 1);
  reserve(two, *clos, false);
  EXPECT_EQ(two.links, (std::vector<std::int32_t>{1, 0, 0, 2, 2, 2, 2, 2, 2, 1, 1, 2}));
  EXPECT_FALSE(virtual_clos_of(two, std::vector<LeafGpus>{{0, 5}, {1, 1}}));
}

// Next to all sets of leaves and spines.
TEST(VirtualClos, IsFoundWhereOneExists) {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int32_t>(random() % n); };
  int found = 0;
  for (int round = 0; round < 4'000; ++round) {
    ClosFabric one = fabric(1 + below(4), std::vector<std::int32_t>(static_cast<std::size_t>(1 + below(5)), 0), 0);
    for (std::int32_t& gpus : one.free_gpus) gpus = below(6);
    for (std::int32_t& links : one.links) links = below(4);
    const std::int32_t gpus = 1 + below(12), n_leaves = static_cast<std::int32_t>(one.free_gpus.size());
    // (leaves, spines) of the first that exist.
    std::pair<int, int> want{0, 0};
    for (const std::int32_t free : one.free_gpus) want = free >= gpus ? std::pair(1, 0) : want;
    for (int m = 2; m <= n_leaves && want.first == 0; ++m) {
      for (int n = 1; gpus % m == 0 && n <= one.spines && want.first == 0; ++n) {
        for (unsigned leaves = 0; leaves < 1U << n_leaves; ++leaves) {
          for (unsigned spines = 0; spines < 1U << one.spines; ++spines) {
            if (std::popcount(leaves) != m || std::popcount(spines) != n) continue;
            bool fits = true;
            for (std::int32_t leaf = 0; leaf < n_leaves; ++leaf) {
              if ((leaves >> leaf & 1) == 0) continue;
              fits = fits && one.free_gpus[static_cast<std::size_t>(leaf)] >= gpus / m;
              for (std::int32_t spine = 0; spine < one.spines; ++spine)
                fits = fits && ((spines >> spine & 1) == 0 || one.at(leaf, spine) * n >= gpus / m);
            }
            if (fits) want = {m, n};
          }
        }
      }
    }
    bool decided = false;
    const auto clos = virtual_clos(one, gpus, decided);
    ASSERT_TRUE(decided);
    ASSERT_EQ(clos.has_value(), want.first != 0) << round;
    if (!clos) continue;
    EXPECT_EQ(static_cast<int>(clos->leaves.size()), want.first) << round;
    EXPECT_EQ(static_cast<int>(clos->spines.size()), want.second) << round;
    reserve(one, *clos, true);
    for (const std::int32_t left : one.links) EXPECT_GE(left, 0);
    for (const std::int32_t left : one.free_gpus) EXPECT_GE(left, 0);
    found += want.first > 1 ? 1 : 0;
  }
  EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace berth::core::virtual_clos_test
