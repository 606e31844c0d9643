#pragma once

#include <string>
#include <vector>

#include "berth/units.hpp"
#include "host/cli/base/command.hpp"
#include "host/core/policy_api/policy.hpp"

/// External policies on the command line.
namespace berth::cli {

struct ExecOptions {
  std::vector<std::string> commands;  ///< "CMD", or "NAME=CMD"
  std::string timeout = "10s";
  TimeUs timeout_us() const;  ///< @throws InvalidArgument naming the text.
};

void add_exec_options(CLI::App& app, ExecOptions& options);

struct NamedCommand {
  std::string name, command;
};

/// "NAME=CMD" where the text before the first '=' is a name (letters, digits, '_', '-', '.'); otherwise the command is
/// its own name.
NamedCommand named_command(const std::string& text);

/// Of --placement; empty: topology.
core::Packing packing_named(const std::string& name);

}  // namespace berth::cli
