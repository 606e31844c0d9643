#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "host/io/files/write_pieces.hpp"

namespace berth::cli {

/// Writes all of the text to standard output. A closed pipe ends the output silently.
/// @throws EnvironmentError when the output cannot be written (a full disk).
void print(std::string_view text);

/// Writes a file, or prints when `path` is "-".
void write_out(const std::string& path, std::string_view content);
/// The same for content that is produced in parts.
void write_out(const std::string& path, const std::function<void(const io::WritePiece&)>& produce);

/// Prints a message for the user: on standard output, or on standard error when `out` is "-".
void print_message(const std::string& out, std::string_view text);

/// "berth: MESSAGE" on standard error. Never throws.
void print_error(std::string_view message) noexcept;

/// Whether to colour standard output: `when` is "always", "never", or "auto" (a terminal, without NO_COLOR).
bool wants_colour(const std::string& when);

}  // namespace berth::cli
