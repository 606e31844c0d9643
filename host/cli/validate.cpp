#include <fmt/format.h>

#include <vector>

#include "berth/engine.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/load.hpp"
#include "host/cli/base/places.hpp"
#include "host/core/quota/queue_notes.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::cli {
namespace {

struct ValidateArguments {
  StateInput input;
  std::string plan;
  std::size_t most = 20;
  bool json = false;
};

constexpr std::size_t kMostNotes = 20;

std::string json_of(const std::vector<std::string>& violations, const std::vector<std::string>& notes) {
  io::JsonWriter out;
  out.object([&] {
    out.key("valid");
    out.raw(violations.empty() ? "true" : "false");
    out.lines(
        "violations", violations, [&](const std::string& one) { out.string(one); }, true);
    if (!notes.empty()) out.strings("notes", notes);
  });
  return out.finish();
}

int run(const ValidateArguments& options) {
  check_places(places_of(options.input, {{"--plan", options.plan}}), {});
  const LoadedState loaded = load_state(options.input);  // rejects an invalid snapshot
  std::vector<std::string> violations;
  std::string text = fmt::format("{}: valid: {}\n", input_name(options.input), summary(loaded.state));
  std::vector<std::string> notes = core::queue_notes(loaded.state);
  if (notes.size() > kMostNotes) {
    const std::size_t more = notes.size() - kMostNotes;
    notes.resize(kMostNotes);
    notes.push_back(fmt::format("{} more about quotas", more));
  }
  for (const std::string& note : notes) text += fmt::format("  note: {}\n", note);
  if (!options.plan.empty()) {
    violations = validate_plan(loaded.state, load_plan(options.plan, loaded.state), options.most);
    text += fmt::format("{}: {}\n", io::input_name(options.plan), violations.empty() ? "valid" : "INVALID");
    for (const std::string& one : violations) text += fmt::format("  {}\n", one);
    if (violations.size() == options.most) text += fmt::format("  (the first {}; --max N shows more)\n", options.most);
  }
  print(options.json ? json_of(violations, notes) : text);
  return violations.empty() ? kDone : kNo;
}

}  // namespace

void add_validate(Commands& commands) {
  auto options = std::make_shared<ValidateArguments>();
  CLI::App& app = commands.add("validate", "Check a snapshot, and a plan against it",
                               "berth validate --snapshot cluster.json --plan plan.json", options, &run);
  add_state_options(app, options->input);
  app.add_option("--plan", options->plan, "Check this plan of that snapshot, independently of what made it")->type_name("FILE");
  app.add_option("--max", options->most, "List at most N violations")
      ->check(whole_number<std::size_t>(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  add_json_flag(app, options->json, "Print one JSON object: valid, violations, notes");
}

}  // namespace berth::cli
