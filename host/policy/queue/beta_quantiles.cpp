#include "host/policy/queue/beta_quantiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "host/policy/base/plain_math.hpp"

namespace berth::policy {
namespace {

constexpr int kCells = 128;

}  // namespace

// Sums the density on a grid around the mean. Between the points of the grid the sum is interpolated linearly.
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
