#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/error.hpp"
#include "host/cli/base/command.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/interrupt.hpp"
#include "host/cli/base/values.hpp"
#include "host/cli/capacity/capacity_output.hpp"
#include "host/cli/search/search_options.hpp"
#include "host/core/base/violations.hpp"

namespace berth::cli {
namespace {

struct CapacityArguments {
  SearchOptions search;
  std::vector<std::string> targets, nodes, prices, powers;
  std::string fixed, power_price, confidence, resample;
  std::int64_t from = -1, to = -1, load_gpus = 0, seeds = 0;
  bool alone = false;
};

// What a seed draws differs between seeds; without it all give the same.
bool draws(const CapacityArguments& options) {
  return !options.resample.empty() || !options.search.jobs.workload.empty() || !options.search.world.failures.empty() ||
         options.search.run.estimates.find("noise") == 0 || options.search.run.progress.find("noise") == 0;
}

void check_load(const CapacityArguments& options) {
  const JobOptions& jobs = options.search.jobs;
  const bool relative = !jobs.load.empty() || (!jobs.workload.empty() && jobs.workload != "ones" && jobs.workload.rfind("dally", 0) != 0);
  if (relative && options.load_gpus == 0)
    throw InvalidArgument("--load-gpus: the load refers to a number of GPUs, which must not grow with the cluster: give it");
  if (jobs.workload == "llm")
    throw InvalidArgument("--workload llm: its jobs are drawn for the nodes of a cluster, so that they would differ from size to size");
}

CapacityTask task_of(const CapacityArguments& options) {
  CapacityTask task;
  if (options.targets.empty()) throw InvalidArgument("--target is required, such as --target 'p90_wait<1h'");
  for (const std::string& text : options.targets) {
    task.targets.push_back(parse_target(text));
    check_target(task.targets.back());
  }
  add_meant_targets(task.targets);
  if (options.nodes.empty()) throw InvalidArgument("--node is required: a kind of node that can be bought, such as 8xH100");
  for (const std::string& text : options.nodes) {
    task.kinds.push_back(parse_node_kind("--node", text));
    const auto same = [&](const NodeKind& kind) { return kind.text() == task.kinds.back().text(); };
    if (std::count_if(task.kinds.begin(), task.kinds.end(), same) > 1)
      throw InvalidArgument(fmt::format("--node: '{}' is given twice", echoed(text)));
  }
  task.fixed = parse_node_counts("--fixed", options.fixed);
  std::set<std::string> types;
  for (const NodeKind& kind : task.kinds) types.insert(kind.type);
  for (const NodeCount& one : task.fixed) types.insert(one.kind.type);
  if (types.size() > 1 && types.count("") > 0)
    throw InvalidArgument("--node: some nodes name the type of their GPUs and some do not; give all a type");
  task.costs = parse_costs(options.prices, options.powers, options.power_price, {types.begin(), types.end()});
  if (!options.confidence.empty()) {
    const bool percent = options.confidence.back() == '%';
    const auto part = parse_positive(std::string_view(options.confidence).substr(0, options.confidence.size() - (percent ? 1 : 0)),
                                     percent ? 4 : 6, 1'000'000);
    if (!part)
      throw InvalidArgument(fmt::format("--confidence: '{}': expected a part of the seeds, such as 90%", echoed(options.confidence)));
    task.confidence_ppm = *part;
  }
  constexpr std::int64_t kUsualSeeds = 10;
  const std::int64_t seeds = options.seeds > 0 ? options.seeds : options.resample.empty() ? 1 : kUsualSeeds;
  for (std::int64_t seed = 0; seed < seeds; ++seed) task.seeds.push_back(seed);
  if (seeds > 1 && !draws(options))
    print_error("note: all seeds give the same, as nothing is drawn; --resample 1d draws days of the trace");
  if (options.from >= 0) task.from = options.from;
  if (options.to >= 0) task.to = options.to;
  if (options.from == 0 && options.fixed.empty()) throw InvalidArgument("--from: a cluster has 1 node at least, or nodes that are --fixed");
  task.mixes = !options.alone;
  check_load(options);
  check_policy(options.search);
  task.texts = texts_of(options.search);
  task.texts["resample"] = options.resample;
  if (options.load_gpus > 0) task.texts["load_gpus"] = fmt::format("{}", options.load_gpus);
  return task;
}

int run(const CapacityArguments& options) {
  const CapacityTask task = task_of(options);
  check_search_places(options.search, {});
  SearchRuns runs(options.search.out, threads_of(options.search));
  RememberSignals signals;
  const std::optional<CapacityResult> result = find_capacity(task, runs);
  for (const std::string& note : runs.notes()) print_error("note: " + note);
  if (!result) {
    print_error(options.search.out.empty() ? "note: interrupted; with --out the runs would be kept, and the same command would go on"
                                           : "note: interrupted: the same command goes on with the runs in " + options.search.out);
    return kDone;
  }
  print(options.search.json ? capacity_json(task, *result) : capacity_text(task, *result));
  if (!options.search.json && !options.search.out.empty())
    print(fmt::format("\n{} in {}, {} of them from before\n", core::counted(runs.made() + runs.resumed(), "run"), options.search.out,
                      runs.resumed()));
  return result->answers.empty() ? kNo : kDone;
}

}  // namespace

void add_capacity(Commands& commands) {
  auto options = std::make_shared<CapacityArguments>();
  CLI::App& app = commands.add("capacity", "Find the smallest and the cheapest cluster that meets a target",
                               "berth capacity --target 'p90_wait<1h' --node 8xH100 --price H100=2.5 \\\n"
                               "    --trace jobs.csv.gz --trace-format helios-venus --policy fifo",
                               options, &run);
  app.add_option("--target", options->targets, "Reach METRIC<VALUE or METRIC>VALUE, such as p90_wait<1h; repeatable")
      ->allow_extra_args(false)
      ->type_name("TARGET");
  app.add_option("--node", options->nodes, "Buy nodes of this kind, such as 8xH100; repeatable, for mixes")
      ->allow_extra_args(false)
      ->type_name("GPUSxTYPE");
  app.add_option("--fixed", options->fixed, "Keep these nodes in any case, such as 16x8xA100")->type_name("CLUSTER");
  app.add_option("--from", options->from, "Buy N nodes at least (1; with --fixed 0)")
      ->check(whole_number<std::int64_t>(0, kMaxNodes))
      ->type_name("N");
  app.add_option("--to", options->to, "Buy N nodes at most; else as many as run all jobs at once")
      ->check(whole_number<std::int64_t>(0, kMaxNodes))
      ->type_name("N");
  app.add_flag("--alone", options->alone, "Try each kind of node alone, and no mixes");
  app.add_option("--price", options->prices, "Count this price of a GPU-hour, by type or for all; repeatable")
      ->allow_extra_args(false)
      ->type_name("TYPE=PRICE");
  app.add_option("--power", options->powers, "Count WATTS of a GPU that is used, and of an idle one; repeatable")
      ->allow_extra_args(false)
      ->type_name("TYPE=WATTS:IDLE");
  app.add_option("--power-price", options->power_price, "Add this price of a kWh to the costs")->type_name("PRICE");
  app.add_option("--seeds", options->seeds, "Make each run with N seeds (1; with --resample 10)")
      ->check(whole_number<std::int64_t>(1, 100'000))
      ->type_name("N");
  app.add_option("--confidence", options->confidence, "Reach the target in P% of the seeds; else on the mean over them")->type_name("P%");
  app.add_option("--resample", options->resample, "Draw blocks of the trace of this length, by the seed")->type_name("DURATION");
  app.add_option("--load-gpus", options->load_gpus, "Let --load and --workload refer to N GPUs")
      ->check(whole_number<std::int64_t>(1, std::int64_t{kMaxNodes} * kMaxGpusPerNode))
      ->type_name("N");
  app.add_option("--warm-up", options->search.warm_up, "Leave out the first P% of the jobs, or those of a time")->type_name("P%|DURATION");
  add_search_options(app, options->search);
  add_json_flag(app, options->search.json, "Print one JSON document");
}

}  // namespace berth::cli
