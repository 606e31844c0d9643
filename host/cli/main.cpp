#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.hpp"
#include "berth/version.hpp"
#include "host/cli/base/command.hpp"
#include "host/cli/base/command_line.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/interrupt.hpp"
#include "host/cli/base/unknown.hpp"

namespace berth::cli {
namespace {

void add_all(Commands& commands, const CLI::App& app) {
  add_plan(commands);
  add_explain(commands);
  add_whatif(commands);
  add_when(commands);
  add_validate(commands);
  add_bound(commands);
  add_import(commands);
  add_topology(commands);
  add_generate(commands);
  add_shadow(commands);
  add_simulate(commands);
  add_report(commands);
  add_sweep(commands);
  add_capacity(commands);
  add_tune(commands);
  add_fit(commands);
  add_bench(commands);
  add_policies(commands);
  add_devices(commands);
  add_version(commands);
  add_help(commands, app);
}

// Messages of other parts repeat arguments whole. Names of files stay as they are.
std::string shortened(std::string problem, std::span<char* const> arguments) {
  for (const std::string_view argument : arguments) {
    for (const std::string_view part : {argument, argument.substr(std::min(argument.find('=') + 1, argument.size()))}) {
      std::error_code ignored;
      if (part.size() <= kMostEchoed || std::filesystem::exists(part, ignored)) continue;
      for (std::size_t at = problem.find(part); at != problem.npos; at = problem.find(part, at)) {
        const std::string shown = echoed(part);
        problem.replace(at, part.size(), shown);
        at += shown.size();
      }
    }
  }
  return problem;
}

void print_shortened(const char* problem, std::span<char* const> arguments) noexcept {
  try {
    print_error(shortened(problem, arguments));
  } catch (const std::bad_alloc&) {
    print_error(problem);
  }
}

int usage(const std::string& problem, const CLI::App& app) {
  std::string command = "berth";
  for (const CLI::App* sub : app.get_subcommands()) command += " " + sub->get_name();
  print_error(problem);
  print_error(fmt::format("see '{} --help'", command));
  return kUsage;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Decide where deep-learning jobs run on a GPU cluster, and explain why", "berth");
  app.set_version_flag("--version", "berth " BERTH_VERSION);
  app.require_subcommand(1);
  app.formatter(help_formatter());
  app.footer(std::string("\n") + kExitCodes);
  remember_command_line({argv, static_cast<std::size_t>(argc)});
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
    return usage(unknown.empty() ? shortened(error.what(), all) : unknown, app);
  }
  // An empty value was meant to be something, such as an unset variable of a script.
  for (const CLI::App* sub : app.get_subcommands()) {
    for (const CLI::Option* option : sub->get_options()) {
      const std::vector<std::string>& given = option->results();
      if (std::find(given.begin(), given.end(), "") != given.end()) return usage(option->get_name() + ": the value is empty", app);
    }
  }
  return commands.run();
}

// A closed standard stream would give its number to the next opened file, which would then receive the output. Opened
// in the opposite direction, its use stays an error.
void occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int guarded(int argc, char** argv) noexcept {
  try {
    return parse_and_run(argc, argv);
  } catch (const InternalError& error) {
    print_error(std::string("internal error: ") + error.what());
    return kInternal;
  } catch (const InvalidArgument& error) {
    print_shortened(error.what(), {argv, static_cast<std::size_t>(argc)});
    return kUsage;
  } catch (const Error& error) {
    print_error(error.what());
    return kUsage;
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
    return kInternal;
  } catch (const std::exception& error) {
    print_error(std::string("internal error: ") + error.what());
    return kInternal;
  } catch (...) {
    print_error("internal error of unknown kind");
    return kInternal;
  }
}

}  // namespace
}  // namespace berth::cli

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // Memory of the input's text is used again for the answer: fresh pages would take a fifth of a first decision.
  // No other thread runs yet.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // NOLINT(concurrency-mt-unsafe)
  mallopt(M_TRIM_THRESHOLD, 1 << 30);   // NOLINT(concurrency-mt-unsafe)
#endif
  // A closed pipe or a file size limit shows as an error of write(), not as a signal that ends the process between two
  // writes.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  berth::cli::occupy_standard_streams();
  const int code = berth::cli::guarded(argc, argv);
  // What was done is kept by now.
  if (const int signal = berth::cli::remembered_signal()) berth::cli::end_by_signal(signal);
  return code;
}
