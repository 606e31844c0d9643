#pragma once

#include <span>
#include <string>

#include "host/cli/base/command.hpp"

namespace berth::cli {

/// The command of that name, or null.
const CLI::App* find_command(const CLI::App& berth, const std::string& name);

/// "unknown command 'plna' (known: plan, ...); did you mean 'plan'?"
std::string unknown_command(const CLI::App& berth, const std::string& name);

/// The first of `arguments` (after the command's name) that `command` does not accept, with a suggestion: "unknown
/// option '--plicy'; did you mean '--policy'?". Empty when it accepts them all.
///
/// The parser reports missing arguments before unknown ones, and both are often the same mistake.
std::string first_unknown(const CLI::App& command, std::span<char* const> arguments);

}  // namespace berth::cli
