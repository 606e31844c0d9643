#include <sstream>
#include <string>
#include <string_view>

#include <CLI/StringTools.hpp>

#include "berth/error.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/unknown.hpp"

namespace berth::cli {
namespace {

constexpr std::size_t kHelpWidth = 80, kOptionWidth = 28;

/// CLI11's layout within kHelpWidth columns.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kOptionWidth); }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = Formatter::make_option_opts(option);
    return text.substr(0, text.find(" Excludes:"));
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped_text(option->get_description(), kHelpWidth - kOptionWidth);
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_name(), wrapped_text(command->get_description(), kHelpWidth - kOptionWidth), kOptionWidth);
    return out.str();
  }
};

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

// Not command.help(), which prints the help of a parsed command instead of the whole.
std::string help_of(const CLI::App& command) {
  const std::string name = command.get_parent() == nullptr ? "berth" : "berth " + command.get_name();
  return command.get_formatter()->make_help(&command, name, CLI::AppFormatMode::Normal);
}

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

std::string wrapped_text(std::string_view text, std::size_t width) {
  std::string lines;
  while (text.size() > width) {
    std::size_t end = text.rfind(' ', width);
    if (end == text.npos) end = text.find(' ');
    if (end == text.npos) break;
    lines.append(text.substr(0, end)) += '\n';
    text.remove_prefix(end + 1);
  }
  return lines.append(text);
}

void add_help(Commands& commands, const CLI::App& berth) {
  auto options = std::make_shared<HelpArguments>();
  options->berth = &berth;
  CLI::App& app = commands.add("help", "Print the help of berth, or of one command", "berth help plan", options, &run);
  app.add_option("COMMAND", options->command, "Print the help of this command");
}

}  // namespace berth::cli
