#include "host/policy/search/pareto_fronts.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace berth::policy::pareto_fronts_test {
namespace {

std::vector<std::int32_t> survivors(const std::vector<TwoObjectives>& all, std::int32_t most) {
  ParetoFronts fronts;
  const auto best = fronts.survivors(all, most);
  return {best.begin(), best.end()};
}

// 4 and 1 dominate 0, and 0 dominates 3; 2 is not dominated.
TEST(ParetoFronts, WhatIsBeatenByFewerFrontsGoesFirst) {
  EXPECT_EQ(survivors({{3, 3}, {2, 3}, {5, 0}, {4, 3}, {1, 2}}, 9), (std::vector<std::int32_t>{2, 4, 1, 0, 3}));
}

// One front: the distances of 1, 2 and 3 are (2+2)/10 = 0.4 + 0.4, (7+7)/10 and (8+8)/10; those of the ends are
// infinite.
TEST(ParetoFronts, OfOneFrontTheLoneliestSurvive) {
  const std::vector<TwoObjectives> all{{0, 10}, {1, 9}, {2, 8}, {8, 2}, {10, 0}};
  EXPECT_EQ(survivors(all, 3), (std::vector<std::int32_t>{0, 4, 3}));
  EXPECT_EQ(survivors(all, 5), (std::vector<std::int32_t>{0, 4, 3, 2, 1}));
}

// Of 100 in both dimensions: 0.12 + 0.90 for the second, 0.75 + 0.41 for the third, 0.88 + 0.10 for the fourth,
// whatever the unit.
TEST(ParetoFronts, DistancesArePartsOfTheFront) {
  EXPECT_EQ(survivors({{0, 100}, {5, 50}, {12, 10}, {80, 9}, {100, 0}}, 5), (std::vector<std::int32_t>{0, 4, 2, 1, 3}));
  EXPECT_EQ(survivors({{0, 1}, {5, .5}, {12, .1}, {80, .09}, {100, 0}}, 5), (std::vector<std::int32_t>{0, 4, 2, 1, 3}));
  EXPECT_EQ(survivors({{0, 100}, {.05, 50}, {.12, 10}, {.8, 9}, {1, 0}}, 5), (std::vector<std::int32_t>{0, 4, 2, 1, 3}));
}

// All in the first front: none is better in one objective without being worse in the other.
TEST(ParetoFronts, EqualsAreInOneFrontAndFallToTheLowerIndex) {
  EXPECT_EQ(survivors({{1, 1}, {1, 1}, {1, 1}, {1, 1}}, 3), (std::vector<std::int32_t>{0, 3, 1}));
  EXPECT_EQ(survivors({{1, 2}, {1, 1}, {2, 1}}, 3), (std::vector<std::int32_t>{1, 0, 2}));
}

}  // namespace
}  // namespace berth::policy::pareto_fronts_test
