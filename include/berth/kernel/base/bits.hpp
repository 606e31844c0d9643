#pragma once

#include <bit>
#include <cassert>
#include <cstdint>

#include "berth/kernel/base/host_device.hpp"

/// Bit operations that are the same in host and device code.
namespace berth::kernel {

BERTH_HD inline std::int32_t popcount(std::uint64_t v) {
#if defined(__CUDA_ARCH__)
  return __popcll(static_cast<long long>(v));
#else
  return std::popcount(v);
#endif
}

/// Index of the lowest set bit; v is not 0.
BERTH_HD inline std::int32_t lowest(std::uint64_t v) {
  assert(v != 0);
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(v)) - 1;
#else
  return std::countr_zero(v);
#endif
}

/// The `n` lowest set bits of v (all of them when it has fewer).
BERTH_HD inline std::uint64_t lowest_bits(std::uint64_t v, std::int32_t n) {
  if (v != 0 && n > 0 && n < 64) {  // often they stand side by side
    const std::uint64_t side_by_side = ((std::uint64_t{1} << n) - 1) << lowest(v);
    if ((v & side_by_side) == side_by_side && popcount(side_by_side) == n) return side_by_side;
  }
  std::uint64_t taken = 0;
  for (; n > 0 && v != 0; --n) {
    taken |= v & (~v + 1);
    v &= v - 1;
  }
  return taken;
}

}  // namespace berth::kernel
