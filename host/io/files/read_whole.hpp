#pragma once

#include <cstddef>
#include <string>

#include "host/io/files/gzip_input.hpp"

namespace berth::io {

/// Maximum size after unpacking of an input that is read as a whole.
inline constexpr std::size_t kMaxWholeBytes = std::size_t{512} << 20;

/// All that is left of the input. @throws InputError when it is more than kMaxWholeBytes, or JSON with a token over kMostTokenBytes.
std::string read_whole(GzipInput& input);

}  // namespace berth::io
