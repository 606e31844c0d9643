#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "host/cli/capacity/mix_search.hpp"
#include "host/cli/capacity/size_search.hpp"

namespace berth::cli::capacity_search_test {
namespace {

using Curve = std::function<bool(std::int64_t size)>;

struct Searched {
  std::optional<std::int64_t> answer;
  std::map<std::int64_t, bool> tried;
  int steps = 0;
};

Searched searched(const SizeRange& range, const Curve& holds) {
  Searched result;
  for (SizeStep step = next_sizes(range, result.tried);; step = next_sizes(range, result.tried)) {
    if (step.sizes.empty()) {
      result.answer = step.answer;
      return result;
    }
    ++result.steps;
    for (const std::int64_t size : step.sizes) {
      EXPECT_GE(size, range.from);
      EXPECT_LE(size, range.to);
      EXPECT_TRUE(result.tried.emplace(size, holds(size)).second) << size << " is tried twice";
    }
  }
}

SizeRange range_of(std::int64_t from, std::int64_t to, std::int64_t start, std::int64_t at_once, bool likely = false) {
  SizeRange range;
  range.from = from, range.to = to, range.start = start, range.at_once = at_once, range.to_is_enough = likely;
  return range;
}

NodeMix mix_of(std::int64_t a, std::int64_t b) { return {a, b}; }

struct MixFound {
  std::map<NodeMix, bool> tried;
  std::optional<NodeMix> cheapest;
};

MixFound mix_search(const SizeRange& first, const SizeRange& second, const std::function<bool(std::int64_t, std::int64_t)>& holds,
                    double price_a, double price_b, bool mixes = true) {
  const auto cost = [&](const NodeMix& mix) { return price_a * static_cast<double>(mix[0]) + price_b * static_cast<double>(mix[1]); };
  MixSearch search({first, second}, mixes, cost, cost);
  MixFound found;
  for (auto next = search.next(found.tried); !next.empty(); next = search.next(found.tried)) {
    for (const NodeMix& mix : next) EXPECT_TRUE(found.tried.emplace(mix, holds(mix[0], mix[1])).second) << mix[0] << " " << mix[1];
  }
  found.cheapest = search.cheapest();
  return found;
}

}  // namespace

TEST(SizeSearch, FindsEveryThresholdWithItsNeighbours) {
  for (const std::int64_t at_once : {1, 2, 3, 7}) {
    for (const std::int64_t start : {1, 20, 60, 100}) {
      for (std::int64_t threshold = 1; threshold <= 100; ++threshold) {
        const Searched result = searched(range_of(1, 100, start, at_once), [&](std::int64_t size) { return size >= threshold; });
        ASSERT_EQ(result.answer, threshold) << at_once << " " << start;
        if (threshold > 1) {
          EXPECT_EQ(result.tried.count(threshold - 1), 1U);
        }
        if (threshold < 100) {
          EXPECT_EQ(result.tried.count(threshold + 1), 1U);
        }
        EXPECT_LE(result.steps, 16);
        EXPECT_EQ(worse_with_more(result.tried), std::nullopt);
      }
    }
  }
}

TEST(SizeSearch, SaysThatNoSizeIsEnough) {
  for (const bool likely : {false, true}) {
    const Searched result = searched(range_of(1, 100, 10, 3, likely), [](std::int64_t) { return false; });
    EXPECT_EQ(result.answer, std::nullopt);
    EXPECT_EQ(result.tried.count(100), 1U) << "the largest has been tried";
  }
  EXPECT_EQ(searched(range_of(0, 0, 0, 3), [](std::int64_t) { return true; }).answer, 0);
}

// All curves over ten sizes, also those where more nodes make it worse.
TEST(SizeSearch, TheAnswerHoldsWithAllLargerOnesThatWereTried) {
  constexpr std::int64_t kSizes = 10;
  for (const std::int64_t at_once : {1, 3}) {
    for (int curve = 0; curve < 1 << kSizes; ++curve) {
      const auto holds = [&](std::int64_t size) { return (curve >> (size - 1) & 1) != 0; };
      for (const std::int64_t start : {1, 4, 10}) {
        const Searched result = searched(range_of(1, kSizes, start, at_once), holds);
        if (!result.answer) {
          EXPECT_FALSE(holds(kSizes)) << curve;
          continue;
        }
        const std::int64_t answer = *result.answer;
        EXPECT_TRUE(holds(answer));
        if (answer > 1) {
          EXPECT_FALSE(holds(answer - 1)) << curve;
        }
        if (answer < kSizes) {
          EXPECT_TRUE(holds(answer + 1)) << curve;
        }
        for (const auto& [size, held] : result.tried) EXPECT_TRUE(size < answer || held) << curve << ": " << size;
        const auto worse = worse_with_more(result.tried);
        if (!worse) continue;
        EXPECT_TRUE(holds(worse->first) && !holds(worse->second) && worse->first < worse->second);
      }
    }
  }
}

TEST(SizeSearch, ALargerSizeThatFailsIsFoundAndSaid) {
  const Searched result = searched(range_of(1, 64, 8, 1), [](std::int64_t size) { return size == 5 || size >= 7; });
  EXPECT_EQ(result.answer, 7);
  EXPECT_EQ(result.tried.count(6), 1U);
  const std::map<std::int64_t, bool> tried{{4, false}, {5, true}, {6, false}, {7, true}, {9, false}, {10, true}};
  EXPECT_EQ(worse_with_more(tried), std::pair(std::int64_t{5}, std::int64_t{9}));
}

TEST(SizeSearch, WhatIsKnownIsNotTriedAgain) {
  const SizeRange range = range_of(1, 100, 10, 1);
  std::map<std::int64_t, bool> known;
  for (std::int64_t size = 1; size <= 100; ++size) known.emplace(size, size >= 37);
  const SizeStep step = next_sizes(range, known);
  EXPECT_TRUE(step.sizes.empty());
  EXPECT_EQ(step.answer, 37);
}

TEST(MixSearch, FindsTheCheapestOfAFrontier) {
  // The second kind alone is never enough, nor is the first; the cheapest has some of each.
  const auto product = [](std::int64_t a, std::int64_t b) { return a * b >= 400; };
  for (const auto& [price_a, price_b] : std::vector<std::pair<double, double>>{{1, 1}, {4, 1}, {1, 4}, {2.5, 1.2}}) {
    const MixFound found = mix_search(range_of(1, 100, 20, 3), range_of(1, 100, 20, 3), product, price_a, price_b);
    double best = 1e9;
    for (std::int64_t a = 1; a <= 100; ++a) {
      for (std::int64_t b = 1; b <= 100; ++b) {
        if (product(a, b)) best = std::min(best, price_a * static_cast<double>(a) + price_b * static_cast<double>(b));
      }
    }
    ASSERT_TRUE(found.cheapest);
    const double cost = price_a * static_cast<double>((*found.cheapest)[0]) + price_b * static_cast<double>((*found.cheapest)[1]);
    EXPECT_LE(cost, 1.05 * best) << price_a << ":" << price_b;
    EXPECT_LT(found.tried.size(), 150U) << "of 10,000";
  }
}

TEST(MixSearch, KindsThatReplaceEachOtherGiveOneKindAlone) {
  const auto together = [](std::int64_t a, std::int64_t b) { return 3 * a + 2 * b >= 120; };
  EXPECT_EQ(mix_search(range_of(1, 100, 40, 1), range_of(1, 100, 40, 1), together, 2, 1).cheapest, mix_of(0, 60));
  EXPECT_EQ(mix_search(range_of(1, 100, 40, 1), range_of(1, 100, 40, 1), together, 1.4, 1).cheapest, mix_of(40, 0));
}

TEST(MixSearch, WithoutMixesOnlyOneKindIsBought) {
  const auto together = [](std::int64_t a, std::int64_t b) { return a * b >= 9 || a >= 50; };
  const MixFound found = mix_search(range_of(1, 100, 40, 1), range_of(1, 100, 40, 1), together, 1, 1, false);
  EXPECT_EQ(found.cheapest, mix_of(50, 0));
  for (const auto& [mix, held] : found.tried) EXPECT_TRUE(mix[0] == 0 || mix[1] == 0);
}

// With 10 of the first kind more of the second are needed than with none: that mix cannot be the cheapest, and is left out.
TEST(MixSearch, AMixThatNeedsMoreThanItsNeighbourIsNoAnswer) {
  const auto odd = [](std::int64_t a, std::int64_t b) { return a >= 20 || (a == 10 ? b >= 35 : b >= 30); };
  const MixFound found = mix_search(range_of(1, 100, 20, 1), range_of(1, 100, 20, 1), odd, 4, 2);
  EXPECT_EQ(found.cheapest, mix_of(0, 30));
  for (const auto& [mix, held] : found.tried) EXPECT_TRUE(mix[0] != 10 || mix[1] <= 30) << mix[1];
}

}  // namespace berth::cli::capacity_search_test
