// Dominant resource fairness: docs/quotas.md, "Dominant shares".
#include "host/core/quota/dominant_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "host/core/base/wide.hpp"
#include "tests/support/random.hpp"

namespace berth::test::dominant_shares_test {
namespace {

using core::divide_dominant;
using core::DominantRequest;
using core::kShared;
using core::kWholeFraction;
using core::kWholeShare;
using core::SharedAmounts;
using core::Wide;

constexpr SharedAmounts kAll{kWholeShare, kWholeShare, kWholeShare};
constexpr std::int64_t kError = kWholeShare / 1'000'000'000;  // a billionth of the cluster

/// Takes the whole of `most`, and of each resource that many parts of kWholeFraction.
DominantRequest taker(std::int64_t most, std::int64_t weight, SharedAmounts part, std::int64_t first = 0) {
  return {most, weight, first, part, 0};
}

std::int64_t used(const DominantRequest& one, std::size_t resource) {
  return static_cast<std::int64_t>(Wide{one.gets} * one.part[resource] / kWholeFraction);
}

std::int64_t below(Random& random, std::int64_t n) { return static_cast<std::int64_t>(random.bits() % static_cast<std::uint64_t>(n)); }

std::vector<DominantRequest> random_takers(Random& random) {
  std::vector<DominantRequest> takers;
  const std::int32_t n = random.within(1, 8);
  for (std::int32_t i = 0; i < n; ++i) {
    DominantRequest one = taker(random.percent(30) ? 0 : below(random, 2 * kWholeShare), random.within(1, 5) * std::int64_t{1'000'000}, {});
    for (std::int64_t& part : one.part) part = random.percent(25) ? 0 : below(random, kWholeFraction);
    one.part[static_cast<std::size_t>(random.below(3))] = kWholeFraction;
    takers.push_back(one);
  }
  return takers;
}

}  // namespace

// A. Ghodsi and others, NSDI 2011, figure 3: 9 cores and 18 GB; tasks of 1 core and 4 GB, and of 3 cores and 1 GB.
TEST(DominantShares, DivideAsInThePaper) {
  const std::int64_t half = kWholeFraction / 2, third = kWholeFraction / 3;
  std::vector<DominantRequest> takers{taker(10 * kWholeShare, 1'000'000, {0, half, kWholeFraction}),
                                      taker(10 * kWholeShare, 1'000'000, {0, kWholeFraction, third / 2})};
  divide_dominant(kAll, takers);
  EXPECT_NEAR(static_cast<double>(takers[0].gets), 2e15 / 3, 1e6);
  EXPECT_NEAR(static_cast<double>(takers[1].gets), 2e15 / 3, 1e6);
}

TEST(DominantShares, FollowWeights) {
  std::vector<DominantRequest> takers{taker(kWholeShare, 1'000'000, {kWholeFraction, 0, 0}),
                                      taker(kWholeShare, 3'000'000, {kWholeFraction, 0, 0})};
  divide_dominant(kAll, takers);
  EXPECT_EQ(takers[0].gets, kWholeShare / 4);
  EXPECT_EQ(takers[1].gets, kWholeShare / 4 * 3);
}

TEST(DominantShares, GiveWhatIsFirstBeforeTheRest) {
  std::vector<DominantRequest> takers{taker(kWholeShare, 1'000'000, {kWholeFraction, 0, 0}, kWholeShare / 2),
                                      taker(kWholeShare, 1'000'000, {kWholeFraction, 0, 0})};
  divide_dominant(kAll, takers);
  EXPECT_EQ(takers[0].gets, kWholeShare / 4 * 3);
  EXPECT_EQ(takers[1].gets, kWholeShare / 4);
}

// One that takes no cores goes on where the cores are used up.
TEST(DominantShares, RiseWhereAnotherResourceIsUsedUp) {
  std::vector<DominantRequest> takers{taker(kWholeShare, 1'000'000, {0, kWholeFraction, 0}),
                                      taker(kWholeShare, 1'000'000, {0, kWholeFraction, 0}),
                                      taker(kWholeShare, 1'000'000, {kWholeFraction, 0, 0})};
  divide_dominant(kAll, takers);
  EXPECT_EQ(takers[0].gets, kWholeShare / 2);
  EXPECT_EQ(takers[1].gets, kWholeShare / 2);
  EXPECT_EQ(takers[2].gets, kWholeShare);
}

// Feasible; nothing is left over; no share over its weight is below another's, unless it has all or a resource that it takes is used
// up; with equal weights each has what an equal part of all resources would give it.
TEST(DominantShares, AreFairForRandomTakers) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Random random(seed);
    std::vector<DominantRequest> takers = random_takers(random);
    const bool even = random.below(2) == 0;
    for (DominantRequest& one : takers) one.weight = even ? 1'000'000 : one.weight;
    divide_dominant(kAll, takers);
    SharedAmounts left = kAll;
    for (const DominantRequest& one : takers) {
      for (std::size_t r = 0; r < kShared; ++r) left[r] -= used(one, r);
    }
    for (const std::int64_t rest : left) ASSERT_GE(rest, -kError) << seed;
    for (const DominantRequest& one : takers) {
      ASSERT_LE(one.gets, one.most) << seed;
      if (one.gets == one.most) continue;
      bool ends = false;
      for (std::size_t r = 0; r < kShared; ++r) {
        if (one.part[r] == 0 || left[r] > kError) continue;
        // Of those that take this resource none has more for its weight.
        ends = ends || std::all_of(takers.begin(), takers.end(), [&](const DominantRequest& other) {
                 return other.part[r] == 0 || Wide{other.gets} * one.weight <= Wide{one.gets + kError} * other.weight;
               });
      }
      ASSERT_TRUE(ends) << seed;
      const auto n = static_cast<std::int64_t>(takers.size());
      if (even) {
        ASSERT_GE(one.gets, std::min(one.most, kWholeShare / n) - kError) << seed;
      }
    }
  }
}

TEST(DominantShares, AreAlsoOfManyMoreThanThereIs) {
  std::vector<DominantRequest> takers(10'000,
                                      taker(9'000 * kWholeShare, 1'000'000'000'000, {kWholeFraction, kWholeFraction, kWholeFraction}));
  divide_dominant(kAll, takers);
  for (const DominantRequest& one : takers) ASSERT_NEAR(static_cast<double>(one.gets), 1e11, 1.0);
}

}  // namespace berth::test::dominant_shares_test
