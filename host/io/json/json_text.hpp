#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/core/base/decimal.hpp"

/// Small functions on JSON text, shared by reading, writing and messages.
namespace berth::io {

using core::append_decimal;
using core::decimal_text;

void append_utf8(std::string& out, std::uint32_t code);
/// The first byte that is not valid UTF-8; the end when all bytes are valid.
const char* first_invalid_utf8(std::string_view text);
/// At most `most` bytes of valid UTF-8, cut between characters.
std::string cut_utf8(std::string_view text, std::size_t most);

/// Appends the string in quotes, escaped.
void append_quoted(std::string& out, std::string_view text);

/// One token of a JSON pointer: '~' and '/' escaped.
std::string pointer_token(std::string_view key);

}  // namespace berth::io
