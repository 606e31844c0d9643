#pragma once

#include <cstddef>
#include <cstdint>

namespace berth {

/// A row number as an index into a vector: rows are 32-bit, as the kernels want them, and never negative here.
constexpr std::size_t at(std::int32_t row) { return static_cast<std::size_t>(row); }

}  // namespace berth
