#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

#include "host/cli/base/command.hpp"
#include "host/cli/base/echoed.hpp"

/// Options that several subcommands share: one wording, one check.
namespace berth::cli {

void add_seed_option(CLI::App& app, std::uint64_t& seed, const std::string& what);
CLI::Option* add_out_option(CLI::App& app, std::string& path, const std::string& what);
void add_json_flag(CLI::App& app, bool& json, const std::string& what);

/// Accepts whole numbers from `least` to `most`: the parser alone would truncate values beyond 64 bits.
template <class Int>
CLI::Validator whole_number(Int least = 0, Int most = std::numeric_limits<Int>::max()) {
  const auto check = [least, most](const std::string& text) {
    Int value{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    return whole && value >= least && value <= most
               ? std::string()
               : "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", found '" + echoed(text) + "'";
  };
  return CLI::Validator(check, "");
}

/// How much of a plan is printed.
struct TextOptions {
  std::string colour = "auto";
  std::size_t rows = 40;
  bool all = false;
};
void add_text_options(CLI::App& app, TextOptions& text);

}  // namespace berth::cli
