#include "host/policy/base/plain_math.hpp"

#include <cmath>

namespace berth::policy {
namespace {

constexpr double kLn2 = 0.693147180559945309;

}  // namespace

// The logarithm of the mantissa by the series of atanh: 2 (z + z^3/3 + ...), |z| < 0.1716.
double plain_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m += m;
    --exponent;
  }
  const double z = (m - 1) / (m + 1), square = z * z;
  double sum = 0;
  for (int k = 15; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return 2 * z * sum + exponent * kLn2;
}

double plain_exp(double x) {
  if (x < -700) return 0;
  const int halvings = static_cast<int>(-x / kLn2);
  const double rest = x + halvings * kLn2;  // -ln 2 .. 0
  double sum = 1;
  for (int k = 14; k >= 1; --k) sum = 1 + sum * rest / k;
  return std::ldexp(sum, -halvings);
}

}  // namespace berth::policy
