#pragma once

#include <string>
#include <string_view>

#include "berth/error.hpp"

namespace berth::io {

/// Line (1-based) of the value that a JSON pointer names in a valid JSON text, or of its nearest existing ancestor.
int line_of(std::string_view text, std::string_view pointer);

/// The message of the error without its location.
std::string problem_of(const InputError& error);

/// The same error with the line of its pointer in the text that it was read from.
InputError with_line(const InputError& error, std::string_view text);

}  // namespace berth::io
