#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Small pieces of JSON text, shared by reading, writing and messages.
namespace berth::io {

/// value / 10^places, exactly, without zeros at the end: (1500000, 6) is "1.5".
std::string decimal_text(std::int64_t value, int places);
void append_decimal(std::string& out, std::int64_t value, int places);

void append_utf8(std::string& out, std::uint32_t code);
/// The first byte that is not valid UTF-8, the end when all is valid.
const char* first_invalid_utf8(std::string_view text);
/// At most `most` bytes of valid UTF-8, cut between characters.
std::string cut_utf8(std::string_view text, std::size_t most);

/// Appends the string in quotes, escaped.
void append_quoted(std::string& out, std::string_view text);

/// One token of a JSON pointer: '~' and '/' escaped.
std::string pointer_token(std::string_view key);

}  // namespace berth::io
