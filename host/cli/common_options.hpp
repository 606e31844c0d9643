#pragma once

#include <cstddef>
#include <string>

#include "host/cli/command.hpp"

/// Options that several subcommands share: one wording, one check.
namespace berth::cli {

void add_snapshot_option(CLI::App& app, std::string& path);
CLI::Option* add_out_option(CLI::App& app, std::string& path, const std::string& what);
void add_json_flag(CLI::App& app, bool& json, const std::string& what);

/// How much of a plan a person gets to see.
struct TextOptions {
  std::string colour = "auto";
  std::size_t rows = 40;
  bool all = false;
};
void add_text_options(CLI::App& app, TextOptions& text);

}  // namespace berth::cli
