#include "host/sim/iterations/all_reduces.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace berth::sim {
namespace {

constexpr std::int64_t kMB = 1'000'000;
constexpr std::int64_t kVgg16 = 526'400'000, kResNet50 = 99'200'000;
const std::array<std::int32_t, 2> kBoth{0, 1};
const std::array<std::int32_t, 2> kRight{1, 2};

}  // namespace

// 0.856 ms/MB alone, and 0.235 ms/MB for each other: 450.6, 1024.9 and 1599.2 ms for VGG16.
TEST(AllReduces, TakeLongerTheMoreShareACard) {
  const std::array<TimeUs, 3> expected{450'599, 1'024'901, 1'599'204};
  for (std::int32_t k = 1; k <= 3; ++k) {
    AllReduces cards(NetworkCost{}, 2);
    for (std::int32_t id = 0; id < k; ++id) cards.begin(id, kVgg16, kBoth, 0, 0);
    EXPECT_EQ(cards.finish_us(0), expected[static_cast<std::size_t>(k - 1)]) << k;
    EXPECT_EQ(cards.finish_us(k - 1), expected[static_cast<std::size_t>(k - 1)]) << k;
  }
  EXPECT_EQ(NetworkCost{}.alone_us(kResNet50), 84'916);
}

TEST(AllReduces, GoAtTheRateOfTheirBusiestNodeAsItChanges) {
  AllReduces cards({0, 1'000'000, 0}, 3);  // a microsecond for each kB, twice that where two share
  cards.begin(0, kMB, kBoth, 0, 0);
  EXPECT_EQ(cards.finish_us(0), 1'000);

  cards.begin(1, kMB, kRight, 400, 400);  // they share node 1
  EXPECT_EQ(cards.finish_us(0), 400 + 2 * 600);
  EXPECT_EQ(cards.finish_us(1), 400 + 2 * 1'000);

  cards.end(0, 1'600);
  EXPECT_FALSE(cards.active(0));
  EXPECT_EQ(cards.finish_us(1), 1'600 + 400);
}

TEST(AllReduces, LatencyPassesFirst) {
  AllReduces cards({100, 1'000'000, 0}, 3);
  cards.begin(0, kMB, kBoth, 0, 0);
  cards.begin(1, kMB, kBoth, 40, 40);

  EXPECT_EQ(cards.finish_us(0), 100 + 2'000);
  EXPECT_EQ(cards.finish_us(1), 140 + 2'000);
}

// The one in progress must have 2 (b + eta) / b = 2.549 times its bytes left.
TEST(AllReduces, AdaDualLetsASmallOneJoinALargeOne) {
  const NetworkCost cost;
  AllReduces cards(cost, 3);
  const auto admits = [&](Admission rule, std::int64_t bytes, TimeUs now) { return cards.admits(rule, bytes, kBoth, now); };
  EXPECT_TRUE(admits(Admission::kOne, kVgg16, 0)) << "no other job is there";

  cards.begin(0, 1'000 * kMB, kRight, 0, 0);
  EXPECT_TRUE(admits(Admission::kAdaDual, 392'300'000, 0));
  EXPECT_FALSE(admits(Admission::kAdaDual, 392'400'000, 0));
  EXPECT_FALSE(admits(Admission::kAdaDual, 392'300'000, 1'000)) << "less is left by now";
  EXPECT_FALSE(admits(Admission::kOne, 1, 0));
  EXPECT_TRUE(admits(Admission::kTwo, kVgg16, 0));

  cards.begin(1, 10, kRight, 0, 0);
  EXPECT_FALSE(admits(Admission::kAdaDual, 1, 0)) << "two are there";
  EXPECT_FALSE(admits(Admission::kTwo, 1, 0));
  EXPECT_TRUE(admits(Admission::kAny, kVgg16, 0));
}

// Each node has another one, and only one of the two is large enough.
TEST(AllReduces, AdaDualLooksAtEveryNode) {
  AllReduces cards(NetworkCost{}, 4);
  const std::array<std::int32_t, 2> left{0, 3};
  cards.begin(0, 1'000 * kMB, left, 0, 0);
  cards.begin(1, 10 * kMB, kRight, 0, 0);

  EXPECT_FALSE(cards.admits(Admission::kAdaDual, 100 * kMB, kBoth, 0));
  EXPECT_TRUE(cards.admits(Admission::kAdaDual, 3 * kMB, kBoth, 0));
}

}  // namespace berth::sim
