#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/cli/base/command.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/interrupt.hpp"
#include "host/cli/base/request.hpp"
#include "host/cli/base/values.hpp"
#include "host/cli/search/search_options.hpp"
#include "host/cli/tune/tune_output.hpp"
#include "host/core/base/names.hpp"
#include "host/core/base/violations.hpp"

namespace berth::cli {
namespace {

constexpr std::int64_t kMostTimedSettings = 10'000;  // of timers, under a budget of time

struct TuneArguments {
  SearchOptions search;
  std::string cluster, window = "28d", metric = "mean_jct", budget, run_limit;
  std::vector<std::string> space;
  std::int64_t validate = 2, seeds = 1;
  std::int64_t resamples = 4;
  bool timers_by_demand = false;
  std::string backend = "auto";
  std::uint64_t seed = 0;
};

// "200" are runs, and "10m" is a time.
void read_budget(const std::string& text, TuneTask& task) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), task.runs);
  if (error == std::errc() && end == text.data() + text.size() && task.runs > 0) return;
  task.runs = 0;
  try {
    task.budget_us = parse_duration(text);
  } catch (const InvalidArgument&) {
    throw InvalidArgument(fmt::format("--budget: '{}': expected a number of runs, such as 100, or a time, such as 10m", echoed(text)));
  }
  if (task.budget_us <= 0) throw InvalidArgument("--budget: no time is left for any run");
}

// Parameters that --policy and --param set.
std::vector<std::string> fixed_params(const SearchOptions& options) {
  std::vector<std::string> names;
  for (const std::string& param : options.params) names.push_back(parse_key_value(param).first);
  const std::string& policy = options.policy;
  for (std::size_t at = policy.find('@'); at != policy.npos; at = policy.find('@', at + 1))
    names.push_back(policy.substr(at + 1, policy.find('=', at) - at - 1));
  if (!options.placement.empty()) names.emplace_back("packing");
  return names;
}

void read_space(const TuneArguments& options, TuneTask& task) {
  const std::vector<std::string> fixed = fixed_params(options.search);
  const auto is_fixed = [&](const ParamDomain& domain) { return std::find(fixed.begin(), fixed.end(), domain.name) != fixed.end(); };
  for (const std::string& text : options.space) {
    ParamDomain domain = parse_domain(task.policy, text);
    if (is_fixed(domain))
      throw InvalidArgument(fmt::format("--space: '{}' is set by --policy, --param or --placement; leave one out", domain.name));
    for (const ParamDomain& other : task.space) {
      if (other.name == domain.name) throw InvalidArgument(fmt::format("--space: '{}' is given twice", domain.name));
    }
    task.space.push_back(std::move(domain));
  }
  if (!options.space.empty()) return;
  task.space = usual_domains(task.policy);
  std::erase_if(task.space, is_fixed);
  if (!task.space.empty()) return;
  std::vector<std::string> names;
  for (const PolicyParam& param : task.policy.params) names.push_back(param.name);
  throw InvalidArgument(fmt::format("--space is required: policy '{}' has no parameters that are tuned by default; it has: {}",
                                    task.policy.name, fmt::join(names, ", ")));
}

TuneTask task_of(const TuneArguments& options) {
  TuneTask task;
  const std::string& policy = options.search.policy;
  task.policy = find_policy_info(policy.substr(0, policy.find('@')));
  if (options.timers_by_demand) {
    if (!options.space.empty()) throw InvalidArgument("--space: --timers-by-demand tunes timers alone; leave one of the two out");
    task.timers = timer_task(options.search, options.seeds);
    task.timers->threads = threads_of(options.search);
    task.timers->resamples = options.resamples;
    task.timers->backend = core::from_name<Backend>(options.backend).value();
    task.space = {timer_domain()};
  } else {
    read_space(options, task);
  }
  if (!options.timers_by_demand && options.resamples != TuneArguments{}.resamples) {
    throw InvalidArgument("--resamples: only replays of timers are made on drawn windows: add --timers-by-demand");
  }
  if (!options.timers_by_demand && options.backend != TuneArguments{}.backend) {
    throw InvalidArgument("--backend: only replays of timers are made by a backend: add --timers-by-demand");
  }
  task.metric = day_metric(options.metric);
  try {
    task.window_us = parse_duration(options.window);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("--window: {}", error.what()));
  }
  if (task.window_us < kDayUs) throw InvalidArgument(fmt::format("--window: '{}': a window has a day at least", echoed(options.window)));
  task.later = options.validate;
  read_budget(options.budget.empty() ? options.timers_by_demand ? "1000" : "100" : options.budget, task);
  if (task.timers) task.timers->settings = task.runs > 0 ? task.runs : kMostTimedSettings;
  if (!options.run_limit.empty()) {
    task.run_limit_us = parse_duration(options.run_limit);
    if (task.run_limit_us <= 0) throw InvalidArgument("--run-limit: a run takes a time above 0");
  }
  task.seed = options.seed;
  for (std::int64_t seed = 0; seed < options.seeds; ++seed) task.seeds.push_back(seed);
  if (options.search.jobs.traces.empty()) throw InvalidArgument("--trace is required: tune looks at windows of it");
  if (!options.search.jobs.load.empty()) throw InvalidArgument("--load: it would move the days of the trace; use 'berth sweep'");
  check_policy(options.search);
  task.texts = texts_of(options.search);
  task.texts["cluster"] = options.cluster;
  return task;
}

int run(const TuneArguments& options) {
  const TuneTask task = task_of(options);
  check_search_places(options.search, {{"--cluster", options.cluster}});
  SearchRuns runs(options.search.out, threads_of(options.search));
  RememberSignals signals;
  const std::optional<TuneResult> result = tune(task, runs);
  for (const std::string& note : runs.notes()) print_error("note: " + note);
  if (!result) {
    print_error(options.search.out.empty() ? "note: interrupted; with --out the runs would be kept, and the same command would go on"
                                           : "note: interrupted: the same command goes on with the runs in " + options.search.out);
    return kDone;
  }
  if (!result->backend_note.empty()) print_error("note: replayed by cpu: " + result->backend_note);
  print(options.search.json ? tune_json(task, *result) : tune_text(task, *result));
  if (!options.search.json)
    print(fmt::format("\n{}{}\n", core::counted(runs.made() + runs.resumed(), "run"),
                      options.search.out.empty() ? "" : fmt::format(" in {}, {} of them from before", options.search.out, runs.resumed())));
  return kDone;
}

}  // namespace

void add_tune(Commands& commands) {
  auto options = std::make_shared<TuneArguments>();
  CLI::App& app = commands.add("tune", "Find better parameters of a policy, and what they gain on later days",
                               "berth tune --policy las --cluster 75x8 --trace venus.csv.gz \\\n"
                               "    --trace-format helios-venus --window 28d --out tune.sqlite",
                               options, &run);
  app.add_option("--cluster", options->cluster, "Use this cluster: a file, or NODESxGPUS such as 32x8; else the trace's")->type_name("C");
  app.add_option("--window", options->window, "Tune on a window of this length; later ones follow it")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--validate", options->validate, "Judge the best on N later windows, the last of the trace")
      ->check(whole_number<std::int64_t>(1, 100))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--metric", options->metric, "Make this figure of jobs small, such as mean_jct or p90_queue")
      ->type_name("METRIC")
      ->capture_default_str();
  app.add_option("--space", options->space, "Tune PARAM=LOW..HIGH, PARAM=A,B,C or PARAM=A|B|C; repeatable")
      ->allow_extra_args(false)
      ->type_name("PARAM=...");
  app.add_flag("--timers-by-demand", options->timers_by_demand, "Find timers of gangs by their GPUs, by replays of the window: for dally");
  app.add_option("--resamples", options->resamples, "Replay timers on N more windows of drawn days, too")
      ->check(whole_number<std::int64_t>(0, 100))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--backend", options->backend, "Replay timers on this backend; the answer is the same on each")
      ->check(CLI::IsMember({"auto", "reference", "cpu", "cuda"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--budget", options->budget, "Make RUNS at most, or try for a TIME; 100, or 1000 settings of timers")
      ->type_name("RUNS|TIME");
  app.add_option("--run-limit", options->run_limit, "Give up a run that takes longer than TIME by the clock")->type_name("TIME");
  app.add_option("--seeds", options->seeds, "Make each run with N seeds of failures and noise")
      ->check(whole_number<std::int64_t>(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  add_search_options(app, options->search);
  add_seed_option(app, options->seed, "Seed the configurations and the intervals");
  add_json_flag(app, options->search.json, "Print one JSON document");
}

}  // namespace berth::cli
