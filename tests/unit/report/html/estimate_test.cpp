#include "host/report/html/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "host/report/html/comparison.hpp"
#include "host/report/html/metrics.hpp"

namespace berth::report::estimate_test {

TEST(ReportEstimate, IsMeanAndStudentsInterval) {
  const std::vector<std::int64_t> values{10, 20, 60};

  const MeanEstimate estimate = estimate_of(values);

  EXPECT_EQ(estimate.runs, 3);
  EXPECT_EQ(estimate.mean, 30);
  ASSERT_TRUE(estimate.half.has_value());
  // s = sqrt((400 + 100 + 900) / 2), t = 4.302653 with two degrees of freedom.
  EXPECT_NEAR(*estimate.half, 4.302653 * std::sqrt(700.0 / 3), 1e-9);
}

TEST(ReportEstimate, RoundsHalfAwayFromZero) {
  const auto mean = [](std::vector<std::int64_t> values) { return estimate_of(values).mean; };
  EXPECT_EQ(mean({1, 2}), 2);
  EXPECT_EQ(mean({-1, -2}), -2);
  EXPECT_EQ(mean({1, 1, 2}), 1);
  EXPECT_EQ(mean({INT64_MAX, INT64_MAX}), INT64_MAX);
  EXPECT_EQ(mean({INT64_MIN + 1, INT64_MIN + 1}), INT64_MIN + 1);
}

TEST(ReportEstimate, OneRunHasNoInterval) {
  const std::vector<std::int64_t> one{7}, none;
  EXPECT_EQ(estimate_of(one).mean, 7);
  EXPECT_FALSE(estimate_of(one).half.has_value());
  EXPECT_EQ(estimate_of(none).runs, 0);
}

TEST(ReportEstimate, ADifferenceIsClearWithoutZeroInItsInterval) {
  EXPECT_TRUE(is_clear({3, 10, 9.0}));
  EXPECT_TRUE(is_clear({3, -10, 9.0}));
  EXPECT_FALSE(is_clear({3, 10, 10.0}));
  EXPECT_FALSE(is_clear({1, 10, {}}));
}

TEST(ReportMetrics, AreShownWithATenth) {
  EXPECT_EQ(shown(MetricUnit::kSeconds, 1'234'567'890'123), "1,234,567.9");
  EXPECT_EQ(shown(MetricUnit::kSeconds, -999'960'000, true), "-1,000.0");
  EXPECT_EQ(shown(MetricUnit::kSeconds, 10'000, true), "0.0");
  EXPECT_EQ(shown(MetricUnit::kPart, 484'691), "48.5");
  EXPECT_EQ(shown(MetricUnit::kCount, 3'000'000), "3");
  EXPECT_EQ(shown(MetricUnit::kCount, 3'400'000, true), "+3.4");
  EXPECT_EQ(shown(MetricUnit::kCount, NAN), "-");
}

}  // namespace berth::report::estimate_test
