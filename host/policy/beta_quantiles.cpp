#include "host/policy/beta_quantiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace berth::policy {
namespace {

constexpr int kCells = 128;
constexpr double kLn2 = 0.693147180559945309;

// x > 0. Of the mantissa's log the series of atanh: 2 (z + z^3/3 + ...), |z| < 0.1716.
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

// x <= 0.
double plain_exp(double x) {
  if (x < -700) return 0;
  const int halvings = static_cast<int>(-x / kLn2);
  const double rest = x + halvings * kLn2;  // -ln 2 .. 0
  double sum = 1;
  for (int k = 14; k >= 1; --k) sum = 1 + sum * rest / k;
  return std::ldexp(sum, -halvings);
}

}  // namespace

// The density on a grid about the mean, added up; between the points of the grid the sum is taken to be straight.
void beta_quantiles(double alpha, double beta, std::span<std::int32_t> out) {
  const double a = std::min(alpha, 1e9), b = std::min(beta, 1e9);
  const double mean = a / (a + b), spread = std::sqrt(mean * (b / (a + b)) / (a + b + 1));
  const double low = std::max(0.0, mean - 10 * spread), high = std::min(1.0, mean + 10 * spread);
  const double width = (high - low) / kCells;
  std::array<double, kCells + 1> sum{};
  double greatest = -1e300;
  for (std::size_t i = 0; i < kCells; ++i) {
    const double x = low + (static_cast<double>(i) + 0.5) * width;
    sum[i + 1] = (a - 1) * plain_log(x) + (b - 1) * plain_log(1 - x);
    greatest = std::max(greatest, sum[i + 1]);
  }
  for (std::size_t i = 0; i < kCells; ++i) sum[i + 1] = sum[i] + plain_exp(sum[i + 1] - greatest);
  std::size_t cell = 0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double part = std::clamp(static_cast<double>(k) / static_cast<double>(out.size() - 1), 1.0 / 4096, 4095.0 / 4096);
    const double wanted = part * sum[kCells];
    while (cell + 1 < kCells && sum[cell + 1] < wanted) ++cell;
    const double here = sum[cell + 1] - sum[cell];
    const double x = low + (static_cast<double>(cell) + (here > 0 ? std::min(1.0, (wanted - sum[cell]) / here) : 0)) * width;
    out[k] = static_cast<std::int32_t>(std::clamp(x, 0.0, 1.0) * kernel::kOnesUnit);
  }
}

}  // namespace berth::policy
