// Features from a job's reports, and the beta that a model computes from them.
#include "host/policy/base/progress_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "host/policy/base/plain_math.hpp"

namespace berth::policy::progress_model_test {
namespace {

TEST(PlainLog, IsThatOfTheLibrary) {
  for (double x = 1e-300; x < 1e300; x *= 1.37) EXPECT_NEAR(plain_log(x), std::log(x), 1e-12 * std::max(1.0, std::abs(std::log(x)))) << x;
  for (double x = 0.5; x < 2; x += 0.000977) EXPECT_NEAR(plain_log(x), std::log(x), 1e-12) << x;
  for (const double x : {std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()}) {
    EXPECT_NEAR(plain_log(x), std::log(x), 1e-9) << x;
  }
  EXPECT_EQ(plain_log(1), 0);
}

TEST(PlainExp, IsThatOfTheLibrary) {
  for (double x = 0; x > -700; x -= 0.377) EXPECT_NEAR(plain_exp(x), std::exp(x), 1e-13 * std::exp(x)) << x;
  EXPECT_EQ(plain_exp(0), 1);
  EXPECT_EQ(plain_exp(-1e300), 0);
}

TEST(ProgressModel, FeaturesAreThoseOfThePaper) {
  const ProgressFeatures all = progress_features({50'000, 12'500'000, 2'500'000, 500'000, 750'000});

  EXPECT_NEAR(all[0], std::log(50'000), 1e-9);
  EXPECT_EQ(all[1], 2.5);
  EXPECT_EQ(all[2], 12.5);
  EXPECT_EQ(all[3], 1 - 0.5 / 2.5);
  EXPECT_EQ(all[4], 0.75);
}

TEST(ProgressModel, AnInitialLossCountsAsAHundredAtMost) {
  const ProgressFeatures all = progress_features({1, 1'000'000, 250'000'000, 125'000'000, 0});

  EXPECT_EQ(all[1], 100);
  EXPECT_EQ(all[3], 0.5);  // of the whole one
}

TEST(ProgressModel, WhatIsNotReportedIsNothing) {
  for (const std::int64_t none : {0, -1}) {
    EXPECT_EQ(progress_features({1, 1'000'000, none, 5, 0}), (ProgressFeatures{0, 0, 1, 0, 0}));
    EXPECT_EQ(progress_features({1, 1'000'000, 3'000'000, none, 0}), (ProgressFeatures{0, 3, 1, 0, 0}));
  }
}

TEST(ProgressModel, BetaIsOneAndWhatTheSumIsAboveNothing) {
  const ProgressFeatures features{2, 3, 5, 0.5, 0.25};
  const ProgressModel model{{1'000'000, -2'000'000, 500'000, 4'000'000, 8'000'000, 10'000'000}};
  ProgressModel negative = model;
  negative.weights_micro[5] = -3'000'000;

  EXPECT_EQ(progress_beta(model, features), 1 + 2 - 6 + 2.5 + 2 + 2 + 10);
  EXPECT_EQ(progress_beta(negative, features), 1);
}

TEST(ProgressModel, IsWrittenAsDecimalsBetweenColons) {
  EXPECT_EQ(to_text({{500'000, 0, -1'000'000, 1, -250'000, 12'000'000}}), "0.5:0:-1:0.000001:-0.25:12");
}

}  // namespace
}  // namespace berth::policy::progress_model_test
