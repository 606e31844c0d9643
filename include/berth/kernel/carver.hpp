#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/kernel/hd.hpp"

namespace berth::kernel {

/// Hands out parts of a block; with a null block it only counts.
struct Carver {
  std::byte* block;
  std::size_t used = 0;
  template <class T>
  BERTH_HD T* take(std::int64_t n) {
    used = (used + 15) / 16 * 16;
    T* part = block == nullptr ? nullptr : reinterpret_cast<T*>(block + used);
    used += sizeof(T) * static_cast<std::size_t>(n > 0 ? n : 1);
    return part;
  }
};

}  // namespace berth::kernel
