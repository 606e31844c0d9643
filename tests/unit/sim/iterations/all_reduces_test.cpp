#include "host/sim/iterations/all_reduces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace berth::sim::all_reduces_test {
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

// All four models alone, next to one and next to two others: tenths of a millisecond, to the nearest.
TEST(AllReduces, TakeTheTimesOfTheAuthorsSimulator) {
  struct ModelTimes {
    std::int64_t bytes;
    std::array<TimeUs, 3> tenths_ms;
  };
  for (const ModelTimes& model : {ModelTimes{526'400'000, {4'506, 10'249, 15'992}}, ModelTimes{99'200'000, {849, 1'931, 3'014}},
                                  ModelTimes{103'000'000, {882, 2'005, 3'129}}, ModelTimes{251'800'000, {2'155, 4'903, 7'650}}}) {
    for (std::int32_t k = 1; k <= 3; ++k) {
      AllReduces cards(NetworkCost{}, 2);
      for (std::int32_t id = 0; id < k; ++id) cards.begin(id, model.bytes, kBoth, 0, 0);
      EXPECT_EQ((cards.finish_us(0) + 50) / 100, model.tenths_ms[static_cast<std::size_t>(k - 1)]) << model.bytes << " " << k;
    }
  }
}

// All-reduces side by side on 1 GbE, in milliseconds: HKBU-HPML/dl-scheduling. Fits minimise relative squares.
class MeasuredOneGbe {
 public:
  struct Errors {
    double mean = 0, most = 0, most_of_three_or_more = 0;
  };
  struct Measured {
    double bytes, k, ns;
  };
  MeasuredOneGbe() {
    const std::array<double, 6> k{1, 2, 3, 4, 8, 16};
    const std::array<std::array<double, 6>, 3> ms{
        {{144, 219, 336, 406, 829, 1574}, {211, 489, 650, 845, 1692, 3105}, {422, 893, 1340, 1649, 3261, 6171}}};
    for (std::size_t size = 0; size < 3; ++size)
      for (std::size_t i = 0; i < 6; ++i) rows_.push_back({static_cast<double>(10 << size) * 1'048'576, k[i], ms[size][i] * 1e6});
  }
  // The normal equations of T = a + k b M, and with (k - 1) eta M, by elimination.
  std::array<double, 3> fit(int parameters) const {
    const auto n = static_cast<std::size_t>(parameters);
    std::array<std::array<double, 4>, 3> m{};
    for (const Measured& row : rows_) {
      const std::array<double, 3> x{1 / row.ns, row.k * row.bytes / row.ns, (row.k - 1) * row.bytes / row.ns};
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) m[i][j] += x[i] * x[j];
        m[i][3] += x[i];
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t r = 0; r < n; ++r) {
        const double times = m[r][i] / m[i][i];
        for (std::size_t c = 0; r != i && c < 4; ++c) m[r][c] -= times * m[i][c];
      }
    }
    std::array<double, 3> out{};
    for (std::size_t i = 0; i < n; ++i) out[i] = m[i][3] / m[i][i];
    return out;
  }
  Errors errors(const std::array<double, 3>& p) const {
    Errors errors;
    for (const Measured& row : rows_) {
      const double error = std::abs((p[0] + row.k * p[1] * row.bytes + (row.k - 1) * p[2] * row.bytes) / row.ns - 1);
      errors.mean += error / static_cast<double>(rows_.size());
      errors.most = std::max(errors.most, error);
      if (row.k >= 3) errors.most_of_three_or_more = std::max(errors.most_of_three_or_more, error);
    }
    return errors;
  }

 private:
  std::vector<Measured> rows_;
};

// With a contention of its own, 1 GbE is fitted no better: max-min sharing, eta = 0, is enough.
TEST(AllReduces, OnOneGbeShareEvenly) {
  const MeasuredOneGbe measured;
  const std::array<double, 3> even = measured.fit(2), own = measured.fit(3);
  EXPECT_EQ(std::llround(even[0] / 1'000), kFabricCosts[1].cost.latency_us);
  EXPECT_EQ(std::llround(even[1] * 1'000) * 1'000, kFabricCosts[1].cost.byte_fs);
  EXPECT_NEAR(own[2], -0.055, 0.001);
  EXPECT_NEAR(measured.errors(even).mean, 0.0459, 0.0001);
  EXPECT_NEAR(measured.errors(own).mean, 0.0460, 0.0001);
  EXPECT_NEAR(measured.errors(even).most, 0.115, 0.001);
  EXPECT_NEAR(measured.errors(own).most, 0.1145, 0.001);
  EXPECT_NEAR(measured.errors(even).most_of_three_or_more, 0.0793, 0.0001);
  EXPECT_NEAR(measured.errors(own).most_of_three_or_more, 0.0787, 0.0001);
  // The eta of 10 GbE does not hold here: 0.235 of 0.856.
  EXPECT_GT(measured.errors({even[0], even[1], even[1] * 0.235 / 0.856}).mean, 0.15);
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

}  // namespace berth::sim::all_reduces_test
