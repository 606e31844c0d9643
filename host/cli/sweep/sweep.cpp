#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "berth/error.hpp"
#include "berth/version.hpp"
#include "host/cli/base/command.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/interrupt.hpp"
#include "host/cli/base/places.hpp"
#include "host/cli/base/progress.hpp"
#include "host/cli/sweep/sweep_serve.hpp"
#include "host/cli/sweep/sweep_summary.hpp"
#include "host/cli/sweep/sweep_workers.hpp"
#include "host/core/base/violations.hpp"
#include "host/io/files/gzip_output.hpp"

namespace berth::cli {
namespace {

struct SweepArguments {
  std::string spec, out, shard = "0/1", until, hash;
  std::vector<std::string> merged;
  int threads = 0;
  bool dry_run = false, json = false;
};

std::string store_of(const SweepArguments& options, const SweepSpec& spec) {
  if (!options.out.empty()) return options.out;
  if (!spec.store.empty()) return file_from(spec.folder, spec.store);
  return std::filesystem::path(spec.path).replace_extension(".sqlite").string();
}

void check_files(const SweepArguments& options, const SweepPlan& plan, const std::string& store) {
  if (io::names_gzip(store)) throw InvalidArgument("--out: results are a database, which cannot be packed; leave out '.gz'");
  if (store == "-") throw InvalidArgument("--out: results are written into a file of their own, not to standard output");
  std::vector<Place> inputs{{"SPEC", options.spec}};
  for (const std::string& file : options.merged) inputs.push_back({"--merge", file});
  std::set<std::string> files;
  for (const SweepCell& cell : plan.cells) {
    files.insert(cell.draft.jobs.traces.begin(), cell.draft.jobs.traces.end());
    for (const Place& place : cell.draft.world.inputs()) files.insert(place.path);
    std::error_code ignored;
    if (std::filesystem::exists(cell.draft.cluster, ignored)) files.insert(cell.draft.cluster);
  }
  for (const std::string& file : files) inputs.push_back({"the spec", file});
  check_places(inputs, {{"--out", store}});
}

// All runs with their keys, and how many the store has.
int list_runs(const SweepPlan& plan, const SweepShard& shard, const std::string& store) {
  const SweepState all(plan, {}, shard);
  const SweepState left(plan, results::stored_figures(store), shard);
  std::string text;
  for (const SweepTask& task : all.tasks()) {
    const SweepCell& cell = plan.cells[task.cell];
    text += sweep_key(cell, task.seed);
    for (std::size_t c = 0; c < plan.columns.size(); ++c) text += fmt::format(" {}={}", plan.columns[c], cell.labels[c]);
    text += fmt::format(" seed={}\n", task.seed);
  }
  print(text);
  print(fmt::format("{}, {} in {}{}\n", core::counted(all.known(), "run"), left.resumed(), store,
                    plan.spec.until ? "; more seeds follow until the intervals are narrow enough" : ""));
  return kDone;
}

void print_notes(const SweepPlan& plan, const SweepState& state, results::SweepStore& store, SweepInputs& inputs) {
  for (const std::string& note : inputs.notes()) print_error("note: " + note);
  std::vector<std::string> versions = store.versions();
  std::erase(versions, std::string(BERTH_VERSION));
  if (!versions.empty()) print_error(fmt::format("note: the store has runs of berth {}", fmt::join(versions, ", ")));
  if (state.wide_blocks() > 0) {
    print_error(fmt::format("note: until: after {} seeds the interval is still too wide for {}", plan.most_seeds(),
                            core::counted(state.wide_blocks(), "input")));
  }
  constexpr std::size_t kShown = 5;
  std::size_t shown = 0;
  for (const auto& [problem, runs] : state.problems()) {
    if (shown++ < kShown) print_error(fmt::format("{} failed: {}", core::counted(runs, "run"), problem));
  }
  if (shown > kShown) print_error(fmt::format("runs failed for {} more causes", shown - kShown));
}

int threads_of(const SweepArguments& options, const SweepLaunch& launch) {
  if (options.threads == 0 && launch.size > 1) return 1;  // the launcher makes as many processes as are to run
  return options.threads > 0 ? options.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

// The first process of the sweep, and often the only one.
int serve(const SweepArguments& options, const SweepPlan& plan, const std::string& path, const SweepLaunch& launch, int threads,
          SweepWorkers& workers) {
  results::SweepStore store(path);
  if (launch.size > 1) remove_other_meetings(path, launch);
  for (const std::string& file : options.merged) {
    const std::int64_t runs = store.merge(file);
    print_error(fmt::format("note: {} from {}", core::counted(runs, "run"), file));
  }
  SweepState state(plan, store.figures(), parse_shard(options.shard));
  SweepInputs inputs(threads);
  ProgressLine line;
  serve_sweep(plan, state, store, inputs, threads, workers, [&](const SweepState& now) {
    line.show(static_cast<int>(100 * now.done() / std::max<std::int64_t>(1, now.known())),
              fmt::format("{} of {} runs", now.done(), now.known()));
  });
  line.clear();
  print_notes(plan, state, store, inputs);
  if (workers.lost() > 0 && remembered_signal() == 0)
    print_error(fmt::format("note: {} lost; others made their runs", core::counted(workers.lost(), "worker")));
  if (remembered_signal() != 0) {
    print_error(fmt::format("note: interrupted: {} of {} runs are in {}; the same command goes on", state.done() - state.failures(),
                            state.known(), path));
    return kDone;
  }
  if (options.json) {
    print(sweep_json(plan, state));
  } else {
    print(sweep_text(plan, state));
    print(
        fmt::format("\n{} in {}, {} of them from before\n", core::counted(state.done() - state.failures(), "run"), path, state.resumed()));
  }
  return state.failures() > 0 ? kUsage : kDone;
}

int run(const SweepArguments& options) {
  if (!options.hash.empty()) {
    if (!options.spec.empty()) throw InvalidArgument("--hash: it reads a store, and takes no SPEC");
    print(results::hash_of_file(options.hash) + "\n");
    return kDone;
  }
  if (options.spec.empty()) throw InvalidArgument("SPEC is required");
  const SweepShard shard = parse_shard(options.shard);
  const std::optional<SweepUntil> until = options.until.empty() ? std::nullopt : std::optional(parse_until(options.until));
  SweepSpec spec = read_sweep_spec(options.spec);
  if (until) {
    spec.until = until;
    if (spec.seeds_listed) throw InvalidArgument("--until: the spec lists its seeds; give their number there");
  }
  const std::string path = store_of(options, spec);
  const SweepPlan plan = plan_sweep(std::move(spec));
  check_files(options, plan, path);
  const SweepLaunch launch = sweep_launch();
  if (options.dry_run) return launch.rank > 0 ? kDone : list_runs(plan, shard, path);
  const int threads = threads_of(options, launch);
  RememberSignals signals;
  if (launch.rank > 0) return work_for_sweep(plan, path, launch, threads);
  SweepWorkers workers(plan, path, launch);
  try {
    return serve(options, plan, path, launch, threads, workers);
  } catch (...) {
    workers.refuse_all();
    throw;
  }
}

}  // namespace

void add_sweep(Commands& commands) {
  auto options = std::make_shared<SweepArguments>();
  CLI::App& app = commands.add("sweep", "Run many simulations that differ in policies, inputs and seeds",
                               "berth sweep study.toml\n"
                               "berth sweep study.toml --until jct:2% --threads 8",
                               options, &run);
  app.add_option("SPEC", options->spec, "Run the simulations that this TOML file describes");
  app.add_option("--out", options->out, "Store results in FILE (SQLite); else as the spec says, or next to it")->type_name("FILE");
  app.add_option("--until", options->until, "Add seeds until the metric's interval is P% of its mean to each side")->type_name("METRIC:P%");
  app.add_option("--threads", options->threads, "Run on N threads; 0 uses all")
      ->check(whole_number<int>())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--shard", options->shard, "Make part I of N of the runs, from 0 on, as a job of a Slurm array")
      ->type_name("I/N")
      ->capture_default_str();
  app.add_option("--merge", options->merged, "First take over the runs of these stores; repeatable")
      ->allow_extra_args(true)
      ->type_name("FILE");
  app.add_flag("--dry-run", options->dry_run, "List the runs and count them, without making any");
  app.add_option("--hash", options->hash, "Print the content hash of this store, without its clock times")->type_name("FILE");
  add_json_flag(app, options->json, "Print one JSON object a line for each cell");
}

}  // namespace berth::cli
