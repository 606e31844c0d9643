#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace berth::cli {

/// Exit codes, for scripts.
enum ExitCode : int {
  kDone = 0,
  kNo = 1,        ///< the plan is invalid, or every job is certified infeasible
  kUsage = 2,     ///< usage, input, or a file that cannot be read or written
  kInternal = 3,  ///< an internal error, or out of memory
};

/// The text that every help shows; the man page and the README repeat it.
inline constexpr const char* kExitCodes =
    "Exit codes:\n"
    "  0  done\n"
    "  1  the plan is invalid, every job is rejected, or no size is enough\n"
    "  2  wrong usage, wrong input, or a file that cannot be read or written\n"
    "  3  an internal error, or out of memory\n";

/// The subcommands. Each file of this folder named after a subcommand adds it.
class Commands {
 public:
  explicit Commands(CLI::App& app) : app_(app) {}

  /// Adds a subcommand whose options are filled into `Options`; `work(options)` runs it and returns the exit code.
  template <class Options>
  CLI::App& add(const std::string& name, const std::string& about, const std::string& example, std::shared_ptr<Options> options,
                int (*work)(const Options&)) {
    CLI::App& sub = *app_.add_subcommand(name, about);
    sub.footer("\nExample:\n  " + example + "\n\n" + kExitCodes);
    sub.callback([this, options, work] { chosen_ = [options, work] { return work(*options); }; });
    return sub;
  }

  /// Runs the subcommand of the command line.
  int run() const { return chosen_ ? chosen_() : kUsage; }

 private:
  CLI::App& app_;
  std::function<int()> chosen_;
};

void add_plan(Commands& commands);
void add_explain(Commands& commands);
void add_whatif(Commands& commands);
void add_when(Commands& commands);
void add_validate(Commands& commands);
void add_bound(Commands& commands);
void add_import(Commands& commands);
void add_topology(Commands& commands);
void add_generate(Commands& commands);
void add_shadow(Commands& commands);
void add_simulate(Commands& commands);
void add_report(Commands& commands);
void add_sweep(Commands& commands);
void add_capacity(Commands& commands);
void add_tune(Commands& commands);
void add_fit(Commands& commands);
void add_bench(Commands& commands);
void add_policies(Commands& commands);
void add_devices(Commands& commands);
void add_version(Commands& commands);
void add_help(Commands& commands, const CLI::App& berth);

/// The output of `berth COMMAND --help` or of `berth --help`.
std::string help_of(const CLI::App& command);
/// How every help is laid out: within 80 columns.
std::shared_ptr<CLI::FormatterBase> help_formatter();
/// The text in lines of at most `width` bytes, broken at blanks.
std::string wrapped_text(std::string_view text, std::size_t width);

}  // namespace berth::cli
