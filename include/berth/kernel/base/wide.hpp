#pragma once

#include <cstdint>

#include "berth/kernel/base/host_device.hpp"

/// Exact integer arithmetic whose intermediates need more than 64 bits.
namespace berth::kernel {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

BERTH_HD constexpr std::int64_t saturate(Wide v) {
  return v < INT64_MIN ? INT64_MIN : v > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(v);
}

BERTH_HD constexpr std::int64_t saturating_mul(std::int64_t a, std::int64_t b) { return saturate(Wide{a} * b); }
BERTH_HD constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) { return saturate(Wide{a} + b); }

/// Whether 64 bits suffice. Division in 128 bits is a call that takes several times as long, and most values do not need it.
BERTH_HD constexpr bool is_narrow(Wide v) { return static_cast<std::int64_t>(v) == v; }

/// Division rounded towards minus infinity; b > 0.
BERTH_HD constexpr Wide floor_div(Wide a, Wide b) {
  if (is_narrow(a) && is_narrow(b)) {
    const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
    return x / y - (x % y < 0 ? 1 : 0);
  }
  return a / b - (a % b < 0 ? 1 : 0);
}
/// The same, and exact too, for |a| < 2^126. Where the quotient is below 2^50 a floating-point one is corrected: a GPU takes
/// several hundred instructions for a division in 128 bits. Not in `floor_div`: with it nvcc 13.0 crashes on cuda/ones.cu.
BERTH_HD inline Wide floor_div_near(Wide a, Wide b) {
  if (is_narrow(a) && is_narrow(b)) return floor_div(a, b);
  constexpr double kSmall = 1125899906842624.0;  // 2^50: off by less than two
  const double near = static_cast<double>(a) / static_cast<double>(b);
  if (near >= kSmall || near <= -kSmall) return floor_div(a, b);
  auto quotient = static_cast<std::int64_t>(near);
  Wide rest = a - b * quotient;
  for (; rest < 0; rest += b) --quotient;
  for (; rest >= b; rest -= b) ++quotient;
  return quotient;
}
/// Division rounded towards plus infinity; b > 0.
BERTH_HD constexpr Wide ceil_div(Wide a, Wide b) { return a / b + (a % b > 0 ? 1 : 0); }

/// floor(a * b / c), saturated; c > 0.
BERTH_HD constexpr std::int64_t mul_div(std::int64_t a, std::int64_t b, std::int64_t c) { return saturate(floor_div(Wide{a} * b, c)); }

}  // namespace berth::kernel
