#pragma once

#include <span>
#include <string>

#include "host/cli/command.hpp"

namespace berth::cli {

/// The command of that name, or null.
const CLI::App* find_command(const CLI::App& berth, const std::string& name);

/// "unknown command 'plna' (known: plan, ...); did you mean 'plan'?"
std::string unknown_command(const CLI::App& berth, const std::string& name);

/// The first of `arguments` (those behind the command's name) that `command` does not take, with a suggestion:
/// "unknown option '--plicy'; did you mean '--policy'?". Empty when it takes them all.
///
/// The parser reports what is missing before what is unknown, and the two are often the same mistake.
std::string first_unknown(const CLI::App& command, std::span<char* const> arguments);

}  // namespace berth::cli
