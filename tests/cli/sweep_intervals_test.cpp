#include "host/cli/sweep/sweep_intervals.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace berth::cli::sweep_intervals_test {

TEST(SweepIntervals, MeanAndHalfWidth) {
  const SweepInterval interval = interval_of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(interval.values, 8);
  EXPECT_EQ(interval.mean, 5);
  EXPECT_NEAR(interval.half_width, 2.364624 * std::sqrt(32.0 / 7 / 8), 1e-9);
  EXPECT_EQ(interval_of({7}).half_width, 0);
  EXPECT_EQ(interval_of({}).values, 0);
  EXPECT_NEAR(interval_of({INT64_MAX, INT64_MAX}).mean, 9.223372036854775807e18, 1e4);
}

TEST(SweepIntervals, NarrowEnough) {
  EXPECT_FALSE(is_narrow(interval_of({5}), 1'000'000)) << "one value has no interval";
  EXPECT_TRUE(is_narrow(interval_of({0, 0}), 1));
  EXPECT_TRUE(is_narrow(interval_of({100, 100, 100}), 1));
  const SweepInterval interval = interval_of({90, 100, 110});  // half width 24.84
  EXPECT_FALSE(is_narrow(interval, 248'000));
  EXPECT_TRUE(is_narrow(interval, 249'000));
  EXPECT_EQ(next_count(interval, 20'000), 6) << "at most twice as many";
  EXPECT_EQ(next_count(interval, 240'000), 4);
  EXPECT_EQ(next_count(interval_of({-5, 5}), 20'000), 4);
}

}  // namespace berth::cli::sweep_intervals_test
