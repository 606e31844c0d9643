// The predictor's likelihood and its fit.
#include "host/fit/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "host/fit/calibration.hpp"
#include "host/fit/fit_problem.hpp"
#include "host/fit/gamma.hpp"

namespace berth::fit::fit_test {
namespace {

Observation seen(const policy::ProgressFeatures& features, double alpha, double rho) {
  return {features, alpha, rho, std::log(rho), std::log(1 - rho)};
}

// Rows drawn from the model.
std::vector<Observation> drawn_from(const policy::ProgressModel& model, int rows, unsigned seed = 7) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> part(0, 1);
  std::vector<Observation> all;
  for (int i = 0; i < rows; ++i) {
    const double alpha = 1 + std::floor(40 * part(random)), loss = 0.2 + 4 * part(random);
    const policy::ProgressFeatures features{6 + 8 * part(random), loss, alpha, part(random), part(random)};
    std::gamma_distribution<double> a(alpha, 1), b(policy::progress_beta(model, features), 1);
    const double done = a(random), left = b(random);
    all.push_back(seen(features, alpha, done / (done + left)));
  }
  return all;
}

}  // namespace

TEST(Gamma, IsThatOfTheLibraryAndOfTables) {
  for (double x = 1e-3; x < 1e9; x *= 1.21) EXPECT_NEAR(log_gamma(x), std::lgamma(x), 1e-11 * std::max(1.0, std::abs(std::lgamma(x)))) << x;
  EXPECT_NEAR(digamma(1), -0.57721566490153286, 1e-12);
  EXPECT_NEAR(digamma(0.5), -1.96351002602142348, 1e-12);
  for (const double x : {0.3, 2.5, 11.9, 12.1, 500.0})
    EXPECT_NEAR(digamma(x), (log_gamma(x + 1e-5) - log_gamma(x - 1e-5)) / 2e-5, 1e-6) << x;
}

// Beta(1, b) has the density b (1 - x)^(b - 1), Beta(2, b) b (b + 1) x (1 - x)^(b - 1).
TEST(Likelihood, IsThatOfDensitiesKnownByHand) {
  for (const double beta : {1.0, 1.5, 7.0, 300.0}) {
    const Observation one = seen({}, 1, 0.25), two = seen({}, 2, 0.25);
    EXPECT_NEAR(log_density(one, beta), std::log(beta) + (beta - 1) * std::log(0.75), 1e-9);
    EXPECT_NEAR(log_density(two, beta), std::log(beta * (beta + 1) * 0.25) + (beta - 1) * std::log(0.75), 1e-9);
    const double slope = (log_density(two, beta + 1e-5) - log_density(two, beta - 1e-5)) / 2e-5;
    EXPECT_NEAR(log_density_slope(two, beta), slope, 1e-6);
  }
}

// Two rows, of one epoch and of two; betas 4 and 3. Mixing the rows would give another mean.
TEST(Likelihood, ARowMeetsItsOwnEpochsAndPrediction) {
  const policy::ProgressModel model{{0, 0, -1'000'000, 0, 0, 4'000'000}};
  const std::vector<Observation> rows{seen({0, 0, 1, 0, 0}, 1, 0.2), seen({0, 0, 2, 0, 0}, 2, 0.6)};

  const double first = std::log(4 * std::pow(0.8, 3)), second = std::log(3 * 4 * 0.6 * std::pow(0.4, 2));

  EXPECT_NEAR(mean_log_density(model, rows), (first + second) / 2, 1e-9);
  double mixed = 0;
  for (const double beta : {4.0, 3.0}) mixed += log_density(rows[0], beta) + log_density(rows[1], beta);
  EXPECT_GT(std::abs(mixed / 4 - (first + second) / 2), 0.01);
}

// Without smoothing, and with the kink smoothed.
TEST(FitProblem, SlopesAreThoseOfTheValue) {
  const std::vector<Observation> rows = drawn_from({{1'500'000, 2'000'000, -300'000, -6'000'000, 9'000'000, 12'000'000}}, 50);
  FitProblem problem(rows, false);
  const Weights at{0.4, -0.3, 0.7, 0.2, -0.5, 0.6};  // F is above 0 for some rows and below for others
  for (const double softness : {0.0, 0.5}) {
    Weights slopes{};
    problem.soften(softness);

    const double value = problem.value(at.data(), slopes.data());

    EXPECT_EQ(value, problem.value(at.data(), nullptr));
    for (std::size_t i = 0; i < at.size(); ++i) {
      Weights more = at, less = at;
      more[i] += 1e-6;
      less[i] -= 1e-6;
      const double expected = (problem.value(more.data(), nullptr) - problem.value(less.data(), nullptr)) / 2e-6;
      EXPECT_NEAR(slopes[i], expected, 1e-4 * std::abs(expected)) << softness << ", " << i;
    }
  }
}

// 20,000 rows: with ten other seeds the errors of the weights were at most three quarters of these tolerances.
TEST(Fit, FindsTheWeightsThatMadeTheRows) {
  const policy::ProgressModel truth{{1'500'000, 2'000'000, -300'000, -6'000'000, 9'000'000, 12'000'000}};
  const std::vector<Observation> rows = drawn_from(truth, 20'000);

  const policy::ProgressModel found = fit_model(rows);

  const double tolerance[] = {0.1, 0.15, 0.02, 0.6, 0.6, 1.2};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(static_cast<double>(found.weights_micro[i]) / 1e6, static_cast<double>(truth.weights_micro[i]) / 1e6, tolerance[i]) << i;
  }
  EXPECT_GE(mean_log_density(found, rows), mean_log_density(truth, rows));
  EXPECT_EQ(fit_model(rows), found);
}

// For a third of the rows F is below 0, where gradients are zero.
TEST(Fit, FindsWeightsBehindTheKink) {
  const policy::ProgressModel truth{{0, 0, -1'000'000, 0, 0, 25'000'000}};
  const std::vector<Observation> rows = drawn_from(truth, 5'000);

  const policy::ProgressModel found = fit_model(rows);

  EXPECT_NEAR(static_cast<double>(found.weights_micro[2]) / 1e6, -1, 0.1);
  EXPECT_GE(mean_log_density(found, rows), mean_log_density(truth, rows));
}

// 30 rows, many with F below 0: some starts end where all rows have that, and gradients end at kinks. One in a hundred
// ends at another local maximum than the truth's.
TEST(Fit, IsTheTopOfItsHillForFewRowsToo) {
  int lower = 0;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (unsigned seed = 0; seed < 100; ++seed) {
    policy::ProgressModel truth;
    for (std::size_t i = 0; i < 6; ++i) truth.weights_micro[i] = std::llround(1e6 * normal(random) * (i == 2 ? 0.5 : i == 5 ? 20 : 8));
    const std::vector<Observation> rows = drawn_from(truth, 30, seed);

    const policy::ProgressModel found = fit_model(rows);

    const double top = mean_log_density(found, rows);
    if (top < mean_log_density(truth, rows)) ++lower;
    for (std::size_t i = 0; i < 6; ++i) {
      for (const std::int64_t step : {-100'000, -1'000, 1'000, 100'000}) {
        policy::ProgressModel moved = found;
        moved.weights_micro[i] += step;
        EXPECT_GT(top + 1e-6, mean_log_density(moved, rows)) << seed << ", weight " << i << ", by " << step;
      }
    }
  }
  EXPECT_LE(lower, 1);
}

// Half of the rows drawn from the model are within its central half.
TEST(Fit, IsCalibratedOnItsOwnKind) {
  const policy::ProgressModel truth{{1'500'000, 2'000'000, -300'000, -6'000'000, 9'000'000, 12'000'000}};
  const std::vector<Observation> rows = drawn_from(truth, 20'000);

  const Calibration all = calibration_of(truth, rows);

  EXPECT_EQ(all.rows, 20'000);
  EXPECT_NEAR(static_cast<double>(all.in_50) / 20'000, 0.5, 0.012);
  EXPECT_NEAR(static_cast<double>(all.in_90) / 20'000, 0.9, 0.008);
}

// The most likely constant of Beta(1, b) at one rho is b = -1 / ln(1 - rho).
TEST(Fit, AConstantIsTheMostLikelyOne) {
  const std::vector<Observation> rows{seen({3, 0, 1, 0, 0}, 1, 0.1)};

  const policy::ProgressModel constant = fit_constant(rows), all = fit_model(rows);

  EXPECT_NEAR(static_cast<double>(constant.weights_micro[5]) / 1e6, -1 / std::log(0.9) - 1, 1e-4);
  EXPECT_EQ(all, constant) << "no feature varies";
}

TEST(Fit, AFeatureThatDoesNotVaryHasNoWeight) {
  std::vector<Observation> rows;
  for (int epoch = 1; epoch < 10; ++epoch) rows.push_back(seen({11.5, 2.3, static_cast<double>(epoch), 0, 0}, epoch, epoch / 10.0));

  const policy::ProgressModel found = fit_model(rows);

  for (const std::size_t i : {0U, 1U, 3U, 4U}) EXPECT_EQ(found.weights_micro[i], 0) << i;
  EXPECT_NEAR(static_cast<double>(found.weights_micro[2]) / 1e6, -1, 0.1);
}

}  // namespace berth::fit::fit_test
