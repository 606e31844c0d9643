#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "host/io/write_pieces.hpp"

namespace berth::cli {

/// Writes to standard output, whole. A reader that has gone ends the output quietly.
/// @throws EnvironmentError when the output cannot be written (a full disk).
void print(std::string_view text);

/// Writes a file, or prints when `path` is "-".
void write_out(const std::string& path, std::string_view content);
/// The same of a content that comes piece by piece.
void write_out(const std::string& path, const std::function<void(const io::WritePiece&)>& produce);

/// Tells a person something: on standard output, or on standard error when `out` ("-") has standard output for itself.
void tell(const std::string& out, std::string_view text);

/// "berth: MESSAGE" on standard error. Never throws.
void complain(std::string_view message) noexcept;

/// Whether to colour standard output: `when` is "always", "never", or "auto" (a terminal, without NO_COLOR).
bool wants_colour(const std::string& when);

}  // namespace berth::cli
