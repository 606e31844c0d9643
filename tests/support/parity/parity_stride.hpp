#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace berth::test {

/// BERTH_PARITY_STRIDE: 1 of that many random cases is tried, where they take long. 1 where it is not set.
inline std::uint64_t parity_stride() {
  const char* const value = std::getenv("BERTH_PARITY_STRIDE");  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? 1 : std::max<std::uint64_t>(1, std::strtoull(value, nullptr, 10));
}

}  // namespace berth::test
