#pragma once

#include <string>
#include <vector>

#include "berth/units.hpp"
#include "host/cli/command.hpp"
#include "host/core/policy.hpp"

/// Policies in other languages on the command line.
namespace berth::cli {

struct ExecOptions {
  std::vector<std::string> commands;  ///< "CMD", or "NAME=CMD"
  std::string timeout = "10s";
  TimeUs patience_us() const;  ///< @throws InvalidArgument naming the text.
};

void add_exec_options(CLI::App& app, ExecOptions& options);

struct NamedCommand {
  std::string name, command;
};

/// "NAME=CMD" where what stands before the first '=' is a name (letters, digits, '_', '-', '.'), else the command is its own name.
NamedCommand named_command(const std::string& text);

/// Of --placement; empty: topology.
core::Placement placement_named(const std::string& name);

}  // namespace berth::cli
