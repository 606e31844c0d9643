#pragma once

#include <cstdint>

#include "berth/kernel/base/host_device.hpp"
#include "berth/kernel/contend/columns.hpp"

/// Integers of link uses. Every rounding is to the nearest, halves up; what is too large becomes the largest.
namespace berth::kernel {

inline constexpr std::int32_t kUseBits = 14, kLimbBits = 7;
inline constexpr std::int32_t kMostLimb = (1 << kLimbBits) - 1;
/// Entries of a candidate whose products surely stay within 31 bits, by number of limbs.
inline constexpr std::int32_t kMostPairLinks[] = {0, INT32_MAX / (kMostLimb * kMostLimb), INT32_MAX / ((kUseOne - 1) * kMostLimb)};

/// The part of time that a job needs a link, from its bytes a step, the link's bytes a second and the step's microseconds.
/// 0 bytes: 0. Otherwise without capacity or time: kMostUse.
BERTH_HD inline std::uint16_t use_of(std::int64_t bytes, std::int64_t bytes_per_s, std::int64_t step_us) {
  if (bytes <= 0) return 0;
  if (bytes_per_s <= 0 || step_us <= 0) return kMostUse;
  constexpr std::int64_t kUsPerS = 1'000'000;
  const __int128 whole = static_cast<__int128>(bytes_per_s) * step_us;
  const __int128 part = static_cast<__int128>(bytes) * (kUsPerS * kUseOne);
  const __int128 down = part / whole, rest = part % whole;
  const __int128 nearest = down + (rest >= whole - rest ? 1 : 0);
  return nearest < kMostUse ? static_cast<std::uint16_t>(nearest) : static_cast<std::uint16_t>(kMostUse);
}

/// The weight of a link when only congested ones count.
BERTH_HD inline std::int32_t congestion_weight(std::int64_t load, std::int64_t capacity) {
  const std::int64_t over = load - capacity;
  return over <= 0 ? 0 : over >= kUseOne ? kUseOne : static_cast<std::int32_t>(over);
}

/// The use of a running job in a product.
BERTH_HD inline std::int32_t pair_use(std::uint16_t use) {
  constexpr std::int32_t kDown = kUseBits - kLimbBits;
  const std::int32_t rounded = (use + (1 << (kDown - 1))) >> kDown;
  return rounded < kMostLimb ? rounded : kMostLimb;
}

/// The weighted use of a candidate in a product, in 7 or 14 bits.
BERTH_HD inline std::int32_t weighted_use(std::uint16_t use, std::int32_t weight, std::int32_t limbs) {
  const std::int32_t bits = kLimbBits * limbs, down = 2 * kUseBits - bits;
  const std::int64_t rounded = (std::int64_t{use} * weight + (std::int64_t{1} << (down - 1))) >> down;
  const std::int32_t most = (1 << bits) - 1;
  return rounded < most ? static_cast<std::int32_t>(rounded) : most;
}

}  // namespace berth::kernel
