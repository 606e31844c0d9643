#pragma once

#include <cstdint>

#include "berth/kernel/base/bits.hpp"
#include "berth/kernel/base/host_device.hpp"

/// A group keeps some of many elements, in order.
namespace berth::kernel {

/// Elements that a thread looks at between two collectives.
inline constexpr std::int32_t kSelectEach = 8;

/// Of 0 .. n - 1 selects those for which keep(i) is true, and calls put(i, at) for each, where `at` counts them.
/// The caller has a barrier before another thread reads what `put` wrote.
/// @returns how many were selected, in every thread
template <class Group, class Keep, class Put>
BERTH_HD std::int32_t select(Group& g, std::int32_t n, const Keep& keep, const Put& put) {
  std::int64_t before = 0;
  for (std::int32_t base = 0; base < n; base += kSelectEach * g.size()) {
    const std::int32_t first = base + kSelectEach * g.rank(), each = n - first < kSelectEach ? n - first : kSelectEach;
    std::uint32_t kept = 0;
    for (std::int32_t k = 0; k < each; ++k) kept |= keep(first + k) ? 1U << k : 0U;
    std::int64_t all = 0;
    auto at = static_cast<std::int32_t>(before + g.scan(popcount(kept), all));
    for (; kept != 0; kept &= kept - 1) put(first + lowest(kept), at++);
    before += all;
  }
  return static_cast<std::int32_t>(before);
}

}  // namespace berth::kernel
