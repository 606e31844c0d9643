#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/forecast.hpp"
#include "berth/queues.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/history.hpp"
#include "host/cli/base/load.hpp"
#include "host/cli/base/places.hpp"
#include "host/cli/explain/link_json.hpp"
#include "host/cli/explain/queue_json.hpp"
#include "host/cli/plan/plan_text.hpp"
#include "host/core/quota/queue_standing.hpp"
#include "host/core/state/state_names.hpp"
#include "host/forecast/when_text.hpp"
#include "host/io/files/file_error.hpp"
#include "host/report/links/link_report.hpp"
#include "host/report/queue_text.hpp"

namespace berth::cli {
namespace {

struct ExplainArguments {
  StateInput input;
  std::string plan, job, svg;
  bool links = false, queues = false, json = false, when = false;
  HistoryInput history;
  std::int32_t futures = 1000;
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

Plan load_valid_plan(const ExplainArguments& options, const LoadedState& loaded, io::Promises& promises) {
  Plan plan = load_plan(options.plan, loaded.state, promises);
  refuse_invalid(options, loaded, plan);
  return plan;
}

Plan load_valid_plan(const ExplainArguments& options, const LoadedState& loaded) {
  io::Promises promises;
  return load_valid_plan(options, loaded, promises);
}

int explain_queues(const ExplainArguments& options, const LoadedState& loaded) {
  Plan plan;
  if (!options.plan.empty()) plan = load_valid_plan(options, loaded);
  const std::vector<QueueStanding> standings = queue_standings(loaded.state, options.plan.empty() ? nullptr : &plan);
  print(options.json ? queue_json(loaded.state, standings) : report::queue_text(loaded.state, standings));
  return kDone;
}

int explain_links(const ExplainArguments& options, const LoadedState& loaded) {
  Plan plan;
  if (!options.plan.empty()) plan = load_valid_plan(options, loaded);
  const report::LinkReport links = report::link_report(loaded.state, options.plan.empty() ? nullptr : &plan);
  if (!options.svg.empty()) write_out(options.svg, report::link_svg(loaded.state, links));
  if (options.svg == "-") return kDone;
  print(options.json ? link_json(loaded.state, links) : report::link_text(loaded.state, links, options.text.rows));
  return kDone;
}

// When a job of the plan that waits is predicted to start, under the policy that made the plan.
std::string explain_when(const ExplainArguments& options, const LoadedState& loaded, const Plan& plan) {
  ForecastRequest asked;
  asked.request.policy = plan.policy;
  asked.request.params = plan.params;
  asked.request.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  asked.jobs = {options.job};
  asked.futures = options.futures;
  const Forecast answer = forecast(loaded.state, load_history(options.history, loaded.state), asked);
  return answer.jobs.empty() ? std::string() : "\n" + report::when_job_text(core::StateNames(loaded.state), answer, answer.jobs.front());
}

int run(const ExplainArguments& options) {
  std::vector<Place> inputs = places_of(options.history);
  inputs.push_back({"--plan", options.plan});
  check_places(places_of(options.input, inputs), {{"--svg", options.svg}});
  const LoadedState loaded = load_state(options.input);
  if (options.links) return explain_links(options, loaded);
  if (options.queues) return explain_queues(options, loaded);
  if (options.json) throw InvalidArgument("--json needs --links or --queues");
  if (options.plan.empty()) throw InvalidArgument("--plan is required, unless --links or --queues shows the jobs that run");
  io::Promises promises;
  const Plan plan = load_valid_plan(options, loaded, promises);
  if (options.job.empty()) {
    print(plan_text(loaded.state, plan, options.text, &promises));
    return kDone;
  }
  const std::int32_t job = loaded.state.find_job(options.job);
  if (const auto out = loaded.left_out.find(options.job); job < 0 && out != loaded.left_out.end()) {
    print(fmt::format("job {}: left out of the plan: {}\n", out->first, out->second));
    return kDone;
  }
  if (job < 0) throw InvalidArgument(fmt::format("--job: no job '{}' in {}", echoed(options.job), input_name(options.input)));
  const std::string text = job_text(loaded.state, plan, job, &promises);
  if (text.empty())
    throw InvalidArgument(fmt::format("--job: {} decides nothing about '{}'", io::input_name(options.plan), echoed(options.job)));
  const bool waits = loaded.state.job(job)->state == JobState::kWaiting;
  print(options.when && waits ? text + explain_when(options, loaded, plan) : text);
  return kDone;
}

}  // namespace

void add_explain(Commands& commands) {
  auto options = std::make_shared<ExplainArguments>();
  CLI::App& app = commands.add("explain", "Explain why a plan does what it does",
                               "berth explain --snapshot cluster.json --plan plan.json --job j17", options, &run);
  add_state_options(app, options->input);
  app.add_option("--plan", options->plan, "Read the plan, made from that snapshot, from FILE")->type_name("FILE");
  CLI::Option* const job = app.add_option("--job", options->job, "Explain this job alone, in full")->type_name("ID");
  CLI::Option* const when =
      app.add_flag("--when", options->when, "With --job, also predict when the job starts ('berth when')")->needs(job);
  add_history_options(app, options->history);
  app.get_option("--history")->needs(when);
  app.add_option("--futures", options->futures, "With --when, simulate N futures; 0: only starts by limits")
      ->check(whole_number<std::int32_t>(0, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  CLI::Option* const links = app.add_flag("--links", options->links, "Show loads of links and gangs that share them")->excludes(job);
  app.add_option("--svg", options->svg, "With --links, also draw them to FILE")->needs(links)->type_name("FILE");
  app.add_flag("--queues", options->queues, "Show what queues are entitled to, have and ask for")->excludes(job)->excludes(links);
  app.add_flag("--json", options->json, "With --links or --queues, print JSON");
  add_text_options(app, options->text);
}

}  // namespace berth::cli
