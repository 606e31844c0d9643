#pragma once

#include <cstddef>

namespace berth::core {

/// Asks the system to back untouched memory by large pages, so that filling two megabytes takes one page fault. The
/// system may ignore it.
void prefer_huge_pages(void* memory, std::size_t bytes);

}  // namespace berth::core
