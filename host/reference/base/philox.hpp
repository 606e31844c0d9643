#pragma once

#include <Random123/philox.h>

#include <cstddef>
#include <cstdint>

namespace berth::reference {

/// Section 2 of docs/ones.md: the n-th number drawn for a purpose.
inline std::uint32_t drawn_number(std::uint64_t seed, std::uint32_t generation, std::uint32_t purpose, std::size_t individual,
                                  std::size_t n) {
  const r123::Philox4x32::ctr_type counter{
      {static_cast<std::uint32_t>(n / 4), purpose, static_cast<std::uint32_t>(individual), generation}};
  const r123::Philox4x32::key_type key{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  return r123::Philox4x32()(counter, key).v[n % 4];
}

/// A number in 0 .. n - 1.
inline std::size_t drawn_below(std::uint32_t number, std::size_t n) { return static_cast<std::size_t>((std::uint64_t{number} * n) >> 32); }

}  // namespace berth::reference
