#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/kernel/base/host_device.hpp"

namespace berth::kernel {

/// Allocates parts of a block of memory. With a null block it only counts bytes.
struct BumpAllocator {
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

/// A visitor of columns (columns.hpp) that allocates them.
struct TakeColumns {
  BumpAllocator& allocator;
  template <class T>
  BERTH_HD void operator()(std::int64_t n, T*& column) const {
    column = allocator.take<T>(n);
  }
};

}  // namespace berth::kernel
