#pragma once

#include <string>
#include <string_view>

#include "berth/error.hpp"

namespace berth::io {

/// Line (1-based) of the value that a JSON pointer names in a valid JSON text; of its nearest existing ancestor otherwise.
int line_of(std::string_view text, std::string_view pointer);

/// What the error says, without the place.
std::string problem_of(const InputError& error);

/// The same error with the line of its pointer in the text it was read from.
InputError with_line(const InputError& error, std::string_view text);

}  // namespace berth::io
