#include <string>

#include "berth/error.hpp"
#include "host/cli/console.hpp"
#include "host/cli/unknown.hpp"

namespace berth::cli {
namespace {

struct HelpArguments {
  const CLI::App* berth = nullptr;
  std::string command;
};

int run(const HelpArguments& options) {
  const CLI::App* command = options.command.empty() ? options.berth : find_command(*options.berth, options.command);
  if (command == nullptr) throw InvalidArgument(unknown_command(*options.berth, options.command));
  print(help_of(*command));
  return kDone;
}

}  // namespace

// Not command.help(), which a command that was parsed answers in place of the whole.
std::string help_of(const CLI::App& command) {
  const std::string name = command.get_parent() == nullptr ? "berth" : "berth " + command.get_name();
  return command.get_formatter()->make_help(&command, name, CLI::AppFormatMode::Normal);
}

void add_help(Commands& commands, const CLI::App& berth) {
  auto options = std::make_shared<HelpArguments>();
  options->berth = &berth;
  CLI::App& app = commands.add("help", "Tell how berth, or one command, is used: as COMMAND --help", "berth help plan", options, &run);
  app.add_option("COMMAND", options->command, "Which one");
}

}  // namespace berth::cli
