#include "host/cli/base/unknown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "host/cli/base/echoed.hpp"
#include "host/core/base/suggest.hpp"

namespace berth::cli {
namespace {

std::string unknown_option(const CLI::App& command, std::string_view name) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& one : option->get_lnames()) known.push_back("--" + one);
  }
  return fmt::format("unknown option '{}'{}", echoed(name),
                     core::did_you_mean(name, std::vector<std::string_view>(known.begin(), known.end())));
}

std::string unexpected(const CLI::App& command, std::string_view argument) {
  const CLI::Option* slurm = command.get_option_no_throw("--slurm");
  if (slurm != nullptr && slurm->count() > 0 && slurm->get_items_expected_max() > 0)
    return fmt::format("unexpected argument '{}'; did you mean '--slurm {}'? The option is given once for each file", echoed(argument),
                       echoed(argument));
  const CLI::Option* snapshot = command.get_option_no_throw("--snapshot");
  const bool forgotten = snapshot != nullptr && snapshot->count() == 0;
  return fmt::format("unexpected argument '{}'{}", echoed(argument),
                     forgotten ? fmt::format("; did you mean '--snapshot {}'?", echoed(argument)) : "");
}

// Number of positional arguments of the command.
std::size_t places_of(const CLI::App& command) {
  std::size_t places = 0;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) places += static_cast<std::size_t>(option->get_items_expected_max());
  }
  return places;
}

}  // namespace

const CLI::App* find_command(const CLI::App& berth, const std::string& name) {
  const auto found = berth.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

std::string unknown_command(const CLI::App& berth, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* command : berth.get_subcommands([](const CLI::App*) { return true; })) known.push_back(command->get_name());
  return fmt::format("unknown command '{}' (known: {}){}", echoed(name), fmt::join(known, ", "),
                     core::did_you_mean(name, std::vector<std::string_view>(known.begin(), known.end())));
}

std::string first_unknown(const CLI::App& command, std::span<char* const> arguments) {
  std::size_t places = places_of(command);
  bool names_end = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (!names_end && argument == "--") {
      names_end = true;
    } else if (!names_end && argument.size() > 1 && argument.front() == '-') {
      const std::string_view name = argument.substr(0, argument.find('='));
      const CLI::Option* option = command.get_option_no_throw(std::string(name));
      if (option == nullptr) return unknown_option(command, name);
      const bool takes_next = option->get_items_expected_max() > 0 && name.size() == argument.size();
      i += takes_next ? 1 : 0;
    } else if (places-- == 0) {
      return unexpected(command, argument);
    }
  }
  return {};
}

}  // namespace berth::cli
