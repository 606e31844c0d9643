#pragma once

#include <cstddef>
#include <string>

#include "host/io/input_bytes.hpp"

namespace berth::io {

/// What is read whole is no larger, after unpacking.
inline constexpr std::size_t kMaxWholeBytes = std::size_t{512} << 20;

/// All that is left of the input. @throws InputError when it is more than kMaxWholeBytes.
std::string read_whole(InputBytes& input);

}  // namespace berth::io
