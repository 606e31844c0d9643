#pragma once

#include <cstddef>
#include <cstdint>

namespace berth {

/// An index of the kernels, signed and never negative here, as an index into a vector.
constexpr std::size_t to_index(std::int32_t i) { return static_cast<std::size_t>(i); }
constexpr std::size_t to_index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace berth
