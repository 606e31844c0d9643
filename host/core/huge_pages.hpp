#pragma once

#include <cstddef>

namespace berth::core {

/// Asks the system to back untouched memory by large pages, so that filling it takes one page fault for two megabytes. A hint: where it
/// is not taken, nothing changes.
void prefer_huge_pages(void* memory, std::size_t bytes);

}  // namespace berth::core
