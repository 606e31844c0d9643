#include <fmt/format.h>

#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/load.hpp"
#include "host/cli/base/places.hpp"
#include "host/cli/plan/plan_text.hpp"
#include "host/io/files/file_error.hpp"

namespace berth::cli {
namespace {

struct ExplainArguments {
  StateInput input;
  std::string plan, job;
  TextOptions text;
};

// The figures of an invalid plan may be wrong.
void refuse_invalid(const ExplainArguments& options, const LoadedState& loaded, const Plan& plan) {
  constexpr std::size_t kShown = 3;
  const std::vector<std::string> violations = validate_plan(loaded.state, plan, kShown);
  if (violations.empty()) return;
  throw InputError(
      io::input_name(options.plan), "", 0,
      fmt::format("no valid plan of {}; is it of another snapshot, or was it changed? ('berth validate' lists what is wrong)\n  {}",
                  input_name(options.input), fmt::join(violations, "\n  ")));
}

int run(const ExplainArguments& options) {
  check_places(places_of(options.input, {{"--plan", options.plan}}), {});
  const LoadedState loaded = load_state(options.input);
  const Plan plan = load_plan(options.plan, loaded.state);
  refuse_invalid(options, loaded, plan);
  if (options.job.empty()) {
    print(plan_text(loaded.state, plan, options.text));
    return kDone;
  }
  const std::int32_t job = loaded.state.find_job(options.job);
  if (const auto out = loaded.left_out.find(options.job); job < 0 && out != loaded.left_out.end()) {
    print(fmt::format("job {}: left out of the plan: {}\n", out->first, out->second));
    return kDone;
  }
  if (job < 0) throw InvalidArgument(fmt::format("--job: no job '{}' in {}", echoed(options.job), input_name(options.input)));
  const std::string text = job_text(loaded.state, plan, job);
  if (text.empty())
    throw InvalidArgument(fmt::format("--job: {} decides nothing about '{}'", io::input_name(options.plan), echoed(options.job)));
  print(text);
  return kDone;
}

}  // namespace

void add_explain(Commands& commands) {
  auto options = std::make_shared<ExplainArguments>();
  CLI::App& app = commands.add("explain", "Explain why a plan does what it does",
                               "berth explain --snapshot cluster.json --plan plan.json --job j17", options, &run);
  add_state_options(app, options->input);
  app.add_option("--plan", options->plan, "Read the plan, made from that snapshot, from FILE")->required()->type_name("FILE");
  app.add_option("--job", options->job, "Explain this job alone, in full")->type_name("ID");
  add_text_options(app, options->text);
}

}  // namespace berth::cli
