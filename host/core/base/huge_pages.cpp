#include "host/core/base/huge_pages.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdint>

namespace berth::core {

void prefer_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
  constexpr std::uintptr_t kPage = std::uintptr_t{1} << 21;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + kPage - 1) & ~(kPage - 1), last = (begin + bytes) & ~(kPage - 1);
  if (first < last) ::madvise(static_cast<char*>(memory) + (first - begin), last - first, MADV_HUGEPAGE);
#endif
}

}  // namespace berth::core
