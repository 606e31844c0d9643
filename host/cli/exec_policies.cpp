#include "host/cli/exec_policies.hpp"

#include <algorithm>
#include <cctype>

#include "berth/error.hpp"
#include "host/cli/values.hpp"

namespace berth::cli {

TimeUs ExecOptions::patience_us() const {
  const TimeUs time = parse_duration(timeout);
  if (time <= 0) throw InvalidArgument("--policy-timeout: an answer takes a time above 0");
  return time;
}

void add_exec_options(CLI::App& app, ExecOptions& options) {
  app.add_option("--policy-exec", options.commands,
                 "A shell command that decides, by lines on its standard input and output; NAME=CMD names it; may be given again")
      ->allow_extra_args(false)
      ->type_name("CMD");
  app.add_option("--policy-timeout", options.timeout, "How long an answer of --policy-exec may take")
      ->type_name("DURATION")
      ->capture_default_str();
}

NamedCommand named_command(const std::string& text) {
  const std::size_t end = text.find('=');
  const bool named =
      end != std::string::npos && end > 0 && std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
      });
  return named ? NamedCommand{text.substr(0, end), text.substr(end + 1)} : NamedCommand{text, text};
}

core::Placement placement_named(const std::string& name) {
  if (name == "count") return core::Placement::kCount;
  return name == "consolidate" ? core::Placement::kConsolidate : core::Placement::kTopology;
}

}  // namespace berth::cli
