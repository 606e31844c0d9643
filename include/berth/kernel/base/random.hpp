#pragma once

#include <Random123/philox.h>
#include <cassert>

#include <cstdint>

#include "berth/kernel/base/host_device.hpp"

/// Counter-based random numbers: Philox4x32-10 (Salmon et al., SC'11). They depend only on their purpose and counters.
namespace berth::kernel {

struct RandomBlock {
  std::uint32_t word[4];
};

/// The owner and purpose of random numbers. The numbers of a purpose are counted in blocks of four.
struct Draws {
  std::uint64_t seed;
  std::uint32_t purpose, individual, generation;

  BERTH_HD RandomBlock block(std::uint32_t number) const {
    const r123::Philox4x32::key_type key{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
    const r123::Philox4x32::ctr_type drawn = r123::Philox4x32()({{number, purpose, individual, generation}}, key);
    return {{drawn.v[0], drawn.v[1], drawn.v[2], drawn.v[3]}};
  }
  BERTH_HD std::uint32_t number(std::int32_t n) const { return block(static_cast<std::uint32_t>(n) / 4).word[n % 4]; }
};

/// A number in 0 .. n-1, n >= 1; the bias is below n / 2^32.
BERTH_HD constexpr std::int32_t below(std::uint32_t number, std::int32_t n) {
  assert(n >= 1);
  return static_cast<std::int32_t>((std::uint64_t{number} * static_cast<std::uint32_t>(n)) >> 32);
}

}  // namespace berth::kernel
