#include "host/core/contention/rotations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "host/core/contention/affinity_graph.hpp"

namespace berth::core::rotations_test {
namespace {

constexpr std::int64_t kMs = 1'000'000, kGbit = 125'000'000;

using Gangs = std::vector<PeriodicTraffic>;
using Shifts = std::vector<std::int64_t>;

// 40 ms of 100 at 40 Gb/s.
const PeriodicTraffic kBurst{100 * kMs, 40 * kMs, 40 * kGbit};

// 29, 14 and 0 of 72 angles exceed 50 Gb/s by 30.
TEST(Rotations, TwoGangsOf40MillisecondsIn100) {
  const Gangs gangs{kBurst, kBurst};
  EXPECT_EQ(compatibility_ppm(gangs, Shifts{0, 0}, 50 * kGbit), 758'333);
  EXPECT_EQ(compatibility_ppm(gangs, Shifts{0, 20 * kMs}, 50 * kGbit), 883'333);
  EXPECT_EQ(compatibility_ppm(gangs, Shifts{0, 40 * kMs}, 50 * kGbit), 1'000'000);
  EXPECT_EQ(compatibility_ppm(gangs, Shifts{0, 60 * kMs}, 50 * kGbit), 1'000'000);
  const BestRotations best = best_rotations(gangs, 50 * kGbit);
  EXPECT_EQ(best.unshifted_ppm, 758'333);
  EXPECT_EQ(best.score_ppm, 1'000'000);
  EXPECT_EQ(best.shift_ns, (Shifts{0, 29 * 100 * kMs / 72}));
  EXPECT_TRUE(best.exhaustive);
}

TEST(Rotations, TheScoreMayBeNegative) {
  const PeriodicTraffic always{100 * kMs, 100 * kMs, 40 * kGbit};
  EXPECT_EQ(compatibility_ppm(Gangs{always, always, always}, Shifts{0, 0, 0}, 40 * kGbit), -1'000'000);
}

// Twice around the shorter: its bursts are 33 and 36 angles apart from the longer one's.
TEST(Rotations, PeriodsOfOneAndTwo) {
  const Gangs gangs{{200 * kMs, 60 * kMs, 40 * kGbit}, {100 * kMs, 20 * kMs, 40 * kGbit}};
  const UnifiedCircle circle = unified_circle(gangs);
  EXPECT_EQ(circle.perimeter_ns, 200 * kMs);
  const BestRotations best = best_rotations(gangs, 50 * kGbit);
  EXPECT_EQ(best.unshifted_ppm, 933'333);
  EXPECT_EQ(best.score_ppm, 1'000'000);
  EXPECT_EQ(best.shift_ns[1], 22 * 200 * kMs / 72);
}

TEST(Rotations, TheGridBoundsThePerimeter) {
  // Multiples of a microsecond, with a common multiple of 1,530 x 1,701 ms / 9.
  const Gangs gangs{{1'530 * kMs, 0, 0}, {1'701 * kMs, 0, 0}};
  const UnifiedCircle circle = unified_circle(gangs);
  EXPECT_LE(circle.perimeter_ns, kMostTurns * *std::max_element(circle.period_ns.begin(), circle.period_ns.end()));
  EXPECT_EQ(circle.period_ns, (Shifts{9 * 28 * circle.grid_ns, 10 * 28 * circle.grid_ns}));
  EXPECT_EQ(circle.grid_ns, 6'080'596);
  // Equal periods, and multiples, need no coarser grid.
  EXPECT_EQ(unified_circle(Gangs{{1'530'001'000, 0, 0}, {1'530'001'000, 0, 0}}).perimeter_ns, 1'530'001'000);
  EXPECT_EQ(unified_circle(Gangs{{300 * kMs, 0, 0}, {450 * kMs, 0, 0}}).perimeter_ns, 900 * kMs);
}

TEST(Rotations, WhatRepeatsTooOftenCountsByItsMean) {
  const Gangs gangs{{100 * kMs, 100 * kMs, 40 * kGbit}, {5 * kMs, 1 * kMs, 20 * kGbit}};
  EXPECT_EQ(compatibility_ppm(gangs, Shifts{0, 0}, 40 * kGbit), 900'000);
  EXPECT_EQ(best_rotations(gangs, 40 * kGbit).score_ppm, 900'000);
}

// Six gangs of a sixth of the time fit one after another.
TEST(Rotations, ManyGangsGoOneAfterAnother) {
  const Gangs gangs(6, {72 * kMs, 12 * kMs, 40 * kGbit});
  const BestRotations best = best_rotations(gangs, 40 * kGbit);
  EXPECT_FALSE(best.exhaustive);
  EXPECT_EQ(best.unshifted_ppm, 1'000'000 - 12 * 5 * 1'000'000 / 72);
  EXPECT_EQ(best.score_ppm, 1'000'000);
  EXPECT_EQ(best.shift_ns, (Shifts{0, 12 * kMs, 24 * kMs, 36 * kMs, 48 * kMs, 60 * kMs}));
}

// The search of many gangs, next to all rotations of three.
TEST(Rotations, AllOfThreeGangsAreTried) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 10; ++round) {
    Gangs gangs;
    for (int j = 0; j < 3; ++j) {
      const auto burst = static_cast<std::int64_t>(random() % 60);
      gangs.push_back({72 * kMs, burst * kMs, static_cast<std::int64_t>(random() % 40 + 1) * kGbit});
    }
    const BestRotations best = best_rotations(gangs, 40 * kGbit);
    EXPECT_TRUE(best.exhaustive);
    EXPECT_EQ(compatibility_ppm(gangs, best.shift_ns, 40 * kGbit), best.score_ppm);
    for (int trial = 0; trial < 200; ++trial) {
      const Shifts shifts{0, static_cast<std::int64_t>(random() % 72) * kMs, static_cast<std::int64_t>(random() % 72) * kMs};
      EXPECT_LE(compatibility_ppm(gangs, shifts, 40 * kGbit), best.score_ppm);
    }
  }
}

// Gangs 0 and 1 meet on link 0, 1 and 2 on link 1; gang 3 is alone.
TEST(AffinityGraph, AChainHasUniqueShifts) {
  const std::vector<AffinityEdge> edges{{0, 0, 10}, {1, 0, 40}, {1, 1, 20}, {2, 1, 70}};
  const AffinityShifts shifts = affinity_shifts(Shifts{100, 100, 50, 30}, 2, edges);
  EXPECT_EQ(shifts.component, (std::vector<std::int32_t>{0, 0, 0, 1}));
  EXPECT_EQ(shifts.has_loop, (std::vector<std::uint8_t>{0, 0}));
  // 0 - 10 + 40; 30 - 20 + 70 modulo 50.
  EXPECT_EQ(shifts.shift_ns, (Shifts{0, 30, 30, 0}));
}

TEST(AffinityGraph, ALoopHasNone) {
  const std::vector<AffinityEdge> edges{{0, 0, 10}, {1, 0, 40}, {1, 1, 20}, {0, 1, 70}, {2, 2, 5}, {3, 2, 9}};
  const AffinityShifts shifts = affinity_shifts(Shifts{100, 100, 100, 100}, 3, edges);
  EXPECT_EQ(shifts.has_loop, (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(shifts.shift_ns, (Shifts{0, 0, 0, 4}));
}

// Shifts of gangs give every link the score that its own shifts give it.
TEST(AffinityGraph, ShiftsOfGangsKeepTheScoreOfEachLink) {
  std::mt19937_64 random(1);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  for (int round = 0; round < 50; ++round) {
    // A tree: each further link joins a gang that is there to one or two new ones.
    Gangs gangs{{72 * kMs, below(60) * kMs, kGbit}};
    std::vector<std::vector<std::int32_t>> links;
    while (links.size() < 6) {
      links.push_back({static_cast<std::int32_t>(below(static_cast<std::int64_t>(gangs.size())))});
      for (std::int64_t more = below(2); more >= 0; --more) {
        links.back().push_back(static_cast<std::int32_t>(gangs.size()));
        gangs.push_back({(below(2) == 0 ? 72 : 36) * kMs, below(36) * kMs, kGbit});
      }
    }
    std::vector<AffinityEdge> edges;
    std::vector<BestRotations> best;
    Shifts periods;
    for (const PeriodicTraffic& gang : gangs) periods.push_back(gang.period_ns);
    for (std::size_t l = 0; l < links.size(); ++l) {
      Gangs on;
      for (const std::int32_t gang : links[l]) on.push_back(gangs[static_cast<std::size_t>(gang)]);
      best.push_back(best_rotations(on, kGbit));
      for (std::size_t k = 0; k < on.size(); ++k) edges.push_back({links[l][k], static_cast<std::int32_t>(l), best[l].shift_ns[k]});
    }
    const AffinityShifts shifts = affinity_shifts(periods, static_cast<std::int32_t>(links.size()), edges);
    ASSERT_EQ(shifts.has_loop, std::vector<std::uint8_t>{0});
    for (std::size_t l = 0; l < links.size(); ++l) {
      Gangs on;
      Shifts shift;
      for (const std::int32_t gang : links[l]) {
        on.push_back(gangs[static_cast<std::size_t>(gang)]);
        shift.push_back(shifts.shift_ns[static_cast<std::size_t>(gang)]);
      }
      EXPECT_EQ(compatibility_ppm(on, shift, kGbit), best[l].score_ppm) << round << " " << l;
    }
  }
}

}  // namespace
}  // namespace berth::core::rotations_test
