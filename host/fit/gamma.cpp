#include "host/fit/gamma.hpp"

#include "host/policy/base/plain_math.hpp"

namespace berth::fit {
namespace {

constexpr double kShift = 12;  // above this the series below are exact enough
constexpr double kHalfLnTwoPi = 0.918938533204672742;

}  // namespace

// Stirling's series; smaller x by Gamma(x) = Gamma(x + 1) / x.
double log_gamma(double x) {
  double product = 1;
  for (; x < kShift; ++x) product *= x;
  const double r = 1 / x, square = r * r;
  const double series = r * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square / 1188))));
  return (x - 0.5) * policy::plain_log(x) - x + kHalfLnTwoPi + series - policy::plain_log(product);
}

double digamma(double x) {
  double sum = 0;
  for (; x < kShift; ++x) sum += 1 / x;
  const double r = 1 / x, square = r * r;
  const double series = square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square * (1.0 / 240 - square / 132))));
  return policy::plain_log(x) - r / 2 - series - sum;
}

}  // namespace berth::fit
