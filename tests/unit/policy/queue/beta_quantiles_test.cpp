#include "host/policy/queue/beta_quantiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace berth::policy::beta_quantiles_test {
namespace {

std::array<std::int32_t, kernel::kOnesQuantiles> quantiles(double alpha, double beta) {
  std::array<std::int32_t, kernel::kOnesQuantiles> all{};
  beta_quantiles(alpha, beta, all);
  return all;
}

// Beta(a, 1) has the distribution function x^a.
TEST(BetaQuantiles, AreThoseOfADistributionThatIsKnown) {
  for (const double alpha : {1.0, 2.0, 50.0, 1e6}) {
    const auto q = quantiles(alpha, 1);
    const double span = q[63] - q[1];
    for (std::size_t k = 0; k < q.size(); ++k) {
      const double part = std::clamp(static_cast<double>(k) / 64, 1.0 / 4096, 4095.0 / 4096);
      const bool outermost = k == 0 || k + 1 == q.size();
      EXPECT_NEAR(q[k], std::pow(part, 1 / alpha) * kernel::kOnesUnit, span / (outermost ? 50 : 500) + 1) << alpha << ", " << k;
    }
  }
}

// The median of Beta(3, 7), from tables.
TEST(BetaQuantiles, MedianIsThatOfTables) { EXPECT_NEAR(quantiles(3, 7)[32] / double{kernel::kOnesUnit}, 0.28624, 0.0001); }

TEST(BetaQuantiles, AscendAndMirror) {
  for (const double alpha : {1.0, 1.5, 2.0, 7.0, 300.0, 1e5, 1e9, 1e15}) {
    for (const double beta : {1.0, 3.25, 80.0, 1e9, 1e15}) {
      const auto q = quantiles(alpha, beta), mirrored = quantiles(beta, alpha);
      EXPECT_TRUE(std::is_sorted(q.begin(), q.end())) << alpha << ", " << beta;
      EXPECT_GE(q.front(), 0);
      EXPECT_LE(q.back(), kernel::kOnesUnit);
      EXPECT_NEAR(q[32], kernel::kOnesUnit - mirrored[32], (q.back() - q.front()) / 500 + 4) << alpha << ", " << beta;
    }
  }
}

}  // namespace
}  // namespace berth::policy::beta_quantiles_test
