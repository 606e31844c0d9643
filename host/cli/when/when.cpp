#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "berth/forecast.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/history.hpp"
#include "host/cli/base/load.hpp"
#include "host/cli/base/places.hpp"
#include "host/cli/base/progress.hpp"
#include "host/cli/base/request.hpp"
#include "host/cli/base/values.hpp"
#include "host/cli/simulate/simulated_world.hpp"
#include "host/cli/when/backtest_text.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/base/split.hpp"
#include "host/core/state/state_names.hpp"
#include "host/forecast/backtest.hpp"
#include "host/forecast/forecast_json.hpp"
#include "host/forecast/when_text.hpp"
#include "host/io/traces/importers.hpp"

namespace berth::cli {
namespace {

struct WhenArguments {
  StateInput input;
  std::string job, policy;
  RequestOptions request;
  HistoryInput history;
  std::int32_t futures = 1000;
  std::string within, levels;
  std::vector<std::string> failures;
  bool json = false;
  std::size_t rows = 40;
  bool backtest = false;
  std::string cluster, from, to, every, learn;
  std::int32_t draw_limits = 0;
};

/// "LOW,HIGH" for all, or four of them, for medians up to 1, 6 and 24 hours ahead, and more.
LevelsByHorizon levels_of(const std::string& text) {
  LevelsByHorizon levels;
  if (text.empty()) return levels;
  const std::vector<std::string_view> pairs = core::split(text, '/');
  const auto expect = [&](bool right) {
    if (!right)
      throw InvalidArgument(
          fmt::format("--levels: '{}': expected LOW,HIGH such as 0.05,0.95, or four of them with '/' between", echoed(text)));
  };
  expect(pairs.size() == 1 || pairs.size() == levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::string_view pair = pairs[pairs.size() == 1 ? 0 : i];
    const std::size_t comma = std::min(pair.find(','), pair.size() - 1);
    // Decimals with six places, as seconds have.
    const auto low = core::parse_seconds(pair.substr(0, comma)), high = core::parse_seconds(pair.substr(comma + 1));
    constexpr TimeUs kMostLevel = 100'000'000;
    expect(low && high && *low >= -kMostLevel && *high <= kMostLevel && *low < *high && *low <= 1'000'000 && *high >= 0);
    levels.at(i) = {static_cast<std::int32_t>(*low), static_cast<std::int32_t>(*high)};
  }
  return levels;
}

/// "none", or "node=TIME" and "repair=TIME".
std::optional<NodeFailures> failures_of(const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  if (texts == std::vector<std::string>{"none"}) return NodeFailures{};
  sim::FailureRates rates;
  for (const std::string& text : texts) {
    const std::string_view name = std::string_view(text).substr(0, text.find('='));
    if (name != "node" && name != "repair")
      throw InvalidArgument(fmt::format("--failures: '{}': expected none, node=TIME or repair=TIME", echoed(text)));
    parse_failure_rate(text, rates);
  }
  if (rates.node_us == 0) throw InvalidArgument("--failures: repair=TIME needs node=TIME");
  NodeFailures failures;
  failures.mean_us = rates.node_us;
  if (rates.repair_us > 0) failures.repair_us = rates.repair_us;
  return failures;
}

int run_backtest(const WhenArguments& options) {
  if (options.history.files.empty()) throw InvalidArgument("--backtest: --history names the jobs that it checks forecasts on");
  if (!options.input.snapshot.empty() || !options.input.slurm.empty() || !options.job.empty() || options.json || !options.within.empty() ||
      !options.failures.empty())
    throw InvalidArgument("--backtest: it takes --history and --cluster, and no snapshot, job, --within, --failures or --json");
  check_places(places_of(options.history), {});
  ProgressLine line;
  io::Imported imported = io::import_files(options.history.format, options.history.files);
  const Snapshot cluster = io::cluster_from(options.cluster, imported);
  sim::BacktestSettings settings;
  settings.request = make_requests(options.request, {options.policy}).front();
  settings.futures = options.futures;
  if (!options.from.empty()) settings.from_us = parse_duration(options.from);
  if (!options.to.empty()) settings.to_us = parse_duration(options.to);
  settings.every_us = parse_duration(options.every.empty() ? "6h" : options.every);
  settings.learn_us = parse_duration(options.learn.empty() ? "672h" : options.learn);
  if (settings.every_us < 60 * kSecond) throw InvalidArgument("--every: expected a minute or more");
  if (!options.levels.empty()) settings.levels = levels_of(options.levels).front();
  settings.limit_factor = options.draw_limits;
  settings.progress = [&](std::int32_t done, std::int32_t all) { line.show(static_cast<int>(100LL * done / all), "instants"); };
  const sim::Backtest backtest = sim::backtest(std::move(imported.trace), cluster, settings);
  line.clear();
  print(backtest_text(backtest, settings));
  return backtest.rows.empty() ? kNo : kDone;
}

int run(const WhenArguments& options) {
  if (options.policy.empty()) throw InvalidArgument("--policy is required ('berth policies' lists them)");
  if (options.backtest) return run_backtest(options);
  for (const auto& [name, given] : {std::pair{"--cluster", !options.cluster.empty()},
                                    {"--draw-limits", options.draw_limits > 0},
                                    {"--from", !options.from.empty()},
                                    {"--to", !options.to.empty()},
                                    {"--every", !options.every.empty()},
                                    {"--learn", !options.learn.empty()}}) {
    if (given) throw InvalidArgument(fmt::format("{} is for --backtest", name));
  }
  check_places(places_of(options.input, places_of(options.history)), {});
  ForecastRequest asked;
  asked.request = make_requests(options.request, {options.policy}).front();
  asked.futures = options.futures;
  if (!options.within.empty()) {
    asked.within_us = parse_duration(options.within);
    if (asked.within_us < 1) throw InvalidArgument("--within: expected a time above 0");
  }
  asked.levels = levels_of(options.levels);
  asked.node_failures = failures_of(options.failures);
  const LoadedState loaded = load_state(options.input);
  if (!options.job.empty()) {
    const auto out = loaded.left_out.find(options.job);
    if (out != loaded.left_out.end() && loaded.state.find_job(options.job) < 0) {
      print(fmt::format("job {}: left out of the queue: {}\n", out->first, out->second));
      return kDone;
    }
    asked.jobs = {options.job};
  }
  const JobHistory history = load_history(options.history, loaded.state);
  ProgressLine line;
  asked.progress = [&](std::int32_t done, std::int32_t all) { line.show(static_cast<int>(100LL * done / std::max(1, all)), "futures"); };
  const Forecast answer = forecast(loaded.state, history, asked);
  line.clear();
  if (options.json) {
    print(io::to_json(answer));
  } else {
    print(report::when_text(core::StateNames(loaded.state), answer, options.rows));
  }
  const bool none =
      !answer.jobs.empty() && std::all_of(answer.jobs.begin(), answer.jobs.end(), [](const JobForecast& job) { return job.rejected; });
  return none ? kNo : kDone;
}

}  // namespace

void add_when(Commands& commands) {
  auto options = std::make_shared<WhenArguments>();
  CLI::App& app = commands.add("when", "Predict when waiting jobs start and end",
                               "berth when --snapshot cluster.json --policy fifo@discipline=easy\n"
                               "  berth when j17 --snapshot cluster.json --policy fifo --history past.json\n"
                               "  berth when --slurm jobs.json --slurm nodes.json --policy fifo \\\n"
                               "    --history jobs.txt --history-format sacct",
                               options, &run);
  app.add_option("JOB", options->job, "Show this job alone; default: all that wait");
  add_state_options(app, options->input);
  app.add_option("--policy", options->policy, "Decide by this policy ('berth policies' lists them)")->type_name("NAME[@PARAM=VALUE...]");
  app.add_option("--param", options->request.params, "Set a parameter of the policy (see 'berth policies NAME'); repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  add_history_options(app, options->history);
  app.add_option("--futures", options->futures, "Simulate N futures; 0: only starts by limits")
      ->check(whole_number<std::int32_t>(0, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--within", options->within, "Begin no future after this time, such as 2s; the error is stated")->type_name("TIME");
  app.add_option("--levels", options->levels, "Bound intervals by these quantiles of the futures (0.025,0.995)")
      ->type_name("LOW,HIGH[/...]");
  app.add_option("--failures", options->failures, "Let nodes fail: none, node=TIME, repair=TIME; repeatable (as they did)")
      ->allow_extra_args(false)
      ->type_name("RATE");
  add_seed_option(app, options->request.seed, "Draw the futures from seed N");
  options->request.threads = 0;
  app.add_option("--threads", options->request.threads, "Simulate on N threads; 0: all processors")
      ->check(whole_number<int>(0, 4096))
      ->type_name("N")
      ->capture_default_str();
  add_json_flag(app, options->json, "Print JSON");
  app.add_option("--rows", options->rows, "List at most N jobs; 0 lists all")
      ->check(whole_number<std::size_t>())
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--backtest", options->backtest, "Check forecasts on the jobs of --history, simulated on --cluster");
  app.add_option("--cluster", options->cluster, "With --backtest, a cluster file or NODESxGPUS")->type_name("CLUSTER");
  app.add_option("--from", options->from, "With --backtest, report instants from this time on (0h)")->type_name("TIME");
  app.add_option("--to", options->to, "With --backtest, report instants before this time")->type_name("TIME");
  app.add_option("--every", options->every, "With --backtest, ask each TIME (6h)")->type_name("TIME");
  app.add_option("--learn", options->learn, "With --backtest, learn levels from the TIME before (672h); 0s: do not")->type_name("TIME");
  app.add_option("--draw-limits", options->draw_limits, "With --backtest, give jobs limits up to N times their run time")
      ->check(whole_number<std::int32_t>(1, 1000))
      ->type_name("N");
}

}  // namespace berth::cli
