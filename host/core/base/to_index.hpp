#pragma once

#include <cstddef>
#include <cstdint>

namespace berth {

/// A row number as an index into a vector. Rows are 32-bit, as the kernels require, and never negative here.
constexpr std::size_t to_index(std::int32_t row) { return static_cast<std::size_t>(row); }

}  // namespace berth
