#include "host/cli/simulate/exec_policies.hpp"

#include <algorithm>
#include <cctype>

#include "berth/error.hpp"
#include "host/cli/base/values.hpp"

namespace berth::cli {

TimeUs ExecOptions::timeout_us() const {
  const TimeUs time = parse_duration(timeout);
  if (time <= 0) throw InvalidArgument("--policy-timeout: an answer takes a time above 0");
  return time;
}

void add_exec_options(CLI::App& app, ExecOptions& options) {
  app.add_option("--policy-exec", options.commands, "Decide by a shell command, named by NAME=CMD; repeatable")
      ->allow_extra_args(false)
      ->type_name("CMD");
  app.add_option("--policy-timeout", options.timeout, "Wait at most DURATION for an answer of --policy-exec")
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

core::Packing packing_named(const std::string& name) {
  if (name == "count") return core::Packing::kCount;
  if (name == "emptiest") return core::Packing::kEmptiest;
  return name == "consolidate" ? core::Packing::kConsolidate : core::Packing::kTopology;
}

}  // namespace berth::cli
