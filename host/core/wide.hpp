#pragma once

#include <cstdint>
#include <limits>

/// Exact integer arithmetic whose intermediates need more than 64 bits.
namespace berth::core {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

inline std::int64_t saturate(Wide v) {
  constexpr std::int64_t lo = std::numeric_limits<std::int64_t>::min(), hi = std::numeric_limits<std::int64_t>::max();
  return v < lo ? lo : v > hi ? hi : static_cast<std::int64_t>(v);
}

inline std::int64_t saturating_mul(std::int64_t a, std::int64_t b) { return saturate(Wide{a} * b); }
inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) { return saturate(Wide{a} + b); }

/// Division towards minus infinity; b > 0.
inline Wide floor_div(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }
/// Division towards plus infinity; b > 0.
inline Wide ceil_div(Wide a, Wide b) { return a / b + (a % b > 0 ? 1 : 0); }

/// floor(a * b / c), saturated; c > 0.
inline std::int64_t mul_div(std::int64_t a, std::int64_t b, std::int64_t c) { return saturate(floor_div(Wide{a} * b, c)); }

}  // namespace berth::core
