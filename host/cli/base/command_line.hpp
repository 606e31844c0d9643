#pragma once

#include <span>
#include <string>

namespace berth::cli {

/// Keeps the command line for `command_line`.
void remember_command_line(std::span<char* const> arguments);

/// The command line, quoted for a shell, with "berth" in place of the program's path; empty: not remembered.
std::string command_line();

}  // namespace berth::cli
