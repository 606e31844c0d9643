#pragma once

#include <string>

#include "host/io/input_bytes.hpp"

namespace berth::io {

/// All that is left of the input, within the limit of read_file. @throws InputError when it is more.
std::string read_whole(InputBytes& input);

}  // namespace berth::io
