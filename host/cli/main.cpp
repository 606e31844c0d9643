#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "berth/version.hpp"
#include "host/cli/command.hpp"
#include "host/cli/console.hpp"
#include "host/cli/unknown.hpp"

namespace berth::cli {
namespace {

void add_all(Commands& commands, const CLI::App& app) {
  add_plan(commands);
  add_explain(commands);
  add_validate(commands);
  add_bound(commands);
  add_import(commands);
  add_generate(commands);
  add_shadow(commands);
  add_simulate(commands);
  add_fit(commands);
  add_bench(commands);
  add_policies(commands);
  add_devices(commands);
  add_version(commands);
  add_help(commands, app);
}

int usage(const std::string& problem, const CLI::App& app) {
  std::string command = "berth";
  for (const CLI::App* sub : app.get_subcommands()) command += " " + sub->get_name();
  complain(problem);
  complain(fmt::format("'{} --help' tells how it is used", command));
  return kUsage;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Berth decides where deep-learning jobs run on a GPU cluster, and says why.", "berth");
  app.set_version_flag("--version", "berth " BERTH_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(28);
  app.footer(std::string("\n") + kExitCodes);
  Commands commands(app);
  add_all(commands, app);
  const std::string first = argc > 1 ? argv[1] : "";
  if (!first.empty() && first[0] != '-' && find_command(app, first) == nullptr) return usage(unknown_command(app, first), app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    print(help_of(chosen.empty() ? app : *chosen.front()));
    return kDone;
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
    return kDone;
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const std::span<char* const> all(argv, static_cast<std::size_t>(argc));
    const std::string unknown = first_unknown(chosen.empty() ? app : *chosen.front(), all.subspan(chosen.empty() ? 1 : 2));
    return usage(unknown.empty() ? error.what() : unknown, app);
  }
  // What is given empty was meant to be something, such as a variable of a script that is not set.
  for (const CLI::App* sub : app.get_subcommands()) {
    for (const CLI::Option* option : sub->get_options()) {
      const std::vector<std::string>& given = option->results();
      if (std::find(given.begin(), given.end(), "") != given.end()) return usage(option->get_name() + ": the value is empty", app);
    }
  }
  return commands.run();
}

// A standard stream that is closed would lend its number to the next file that is opened, which would then get what is printed.
// The other direction than its own makes its use an error, as before.
void occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int guarded(int argc, char** argv) noexcept {
  try {
    return parse_and_run(argc, argv);
  } catch (const InternalError& error) {
    complain(std::string("internal error: ") + error.what());
    return kInternal;
  } catch (const Error& error) {
    complain(error.what());
    return kUsage;
  } catch (const std::bad_alloc&) {
    complain("out of memory");
    return kInternal;
  } catch (const std::exception& error) {
    complain(std::string("internal error: ") + error.what());
    return kInternal;
  } catch (...) {
    complain("internal error of unknown kind");
    return kInternal;
  }
}

}  // namespace
}  // namespace berth::cli

int main(int argc, char** argv) {
  // A reader that has gone, or a limit of file sizes, shows as an error of write(), not as a signal that ends the process half-way through
  // its files.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  berth::cli::occupy_standard_streams();
  return berth::cli::guarded(argc, argv);
}
