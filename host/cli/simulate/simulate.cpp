#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "host/cli/base/command_line.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/interrupt.hpp"
#include "host/cli/base/places.hpp"
#include "host/cli/base/progress.hpp"
#include "host/cli/base/request.hpp"
#include "host/cli/base/values.hpp"
#include "host/cli/simulate/exec_policies.hpp"
#include "host/cli/simulate/simulated_history.hpp"
#include "host/cli/simulate/simulated_inputs.hpp"
#include "host/cli/simulate/simulated_iterations.hpp"
#include "host/cli/simulate/simulated_jobs.hpp"
#include "host/cli/simulate/simulated_run.hpp"
#include "host/cli/simulate/simulated_world.hpp"
#include "host/cli/simulate/simulation_json.hpp"
#include "host/cli/simulate/simulation_measures.hpp"
#include "host/cli/simulate/simulation_output.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/base/violations.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_json.hpp"
#include "host/report/table.hpp"
#include "host/sim/exec/exec_policy.hpp"
#include "host/sim/iterations/ada_srsf.hpp"

namespace berth::cli {
namespace {

struct SimulateArguments {
  JobOptions jobs;
  std::string cluster, placement, jobs_out, history_out, trace_out;
  std::vector<std::string> policies;
  ExecOptions exec;
  RequestOptions request;
  RunOptions run;
  SimulatedWorld world;
  IterationOptions iterations;
  bool json = false;
  OutputOptions output;
};

using results::Run;

/// Shared by all runs.
struct Along {
  ProgressLine line;
  RememberSignals signals;
  std::optional<SimulatedHistory> history;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string csv_row(const std::string& policy, const Trace& trace, const sim::JobOutcome& job) {
  const auto seconds = [](TimeUs t) { return t == kNever ? std::string() : core::format_seconds(t); };
  const bool completed = job.end == sim::JobOutcome::End::kCompleted;
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(policy), csv_field(trace.jobs[static_cast<std::size_t>(job.job)].id),
      sim::kEndNames[static_cast<int>(job.end)], seconds(job.submit_us), seconds(job.start_us), seconds(job.end_us),
      completed ? seconds(job.jct_us()) : "", completed ? seconds(job.waited_us()) : "", seconds(job.held_us), seconds(job.overhead_us),
      seconds(static_cast<TimeUs>(job.gpu_us)), job.starts, job.preemptions, job.moves, csv_field(job.nodes), csv_field(job.reason));
}

constexpr const char* kCsvHead =
    "policy,job,end,submit_s,start_s,end_s,jct_s,wait_s,held_s,overhead_s,gpu_s,starts,preemptions,moves,nodes,reason\n";

/// What the importer left out of the trace: rows that are no jobs have neither policy nor id.
std::string csv_of_dropped(const Trace& trace) {
  std::string text;
  for (const auto& [cause, rows] : trace.dropped)
    text += fmt::format(",,dropped,,,,,,,,,,,,,{}\n", csv_field(fmt::format("{}: {}", core::counted(rows, "row"), cause)));
  return text;
}

// "fifo rejects 2 jobs: needs 16 GPUs; the cluster has 8", the reasons of most jobs first.
std::string rejections_text(const Run& run) {
  constexpr std::size_t kShown = 5;
  std::vector<std::pair<std::string, std::int64_t>> reasons(run.rejections.begin(), run.rejections.end());
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  std::int64_t more = 0;
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    const auto& [reason, jobs] = reasons[i];
    if (i < kShown) {
      text += fmt::format("{} rejects {}: {}\n", run.policy, core::counted(jobs, "job"), reason);
    } else {
      more += jobs;
    }
  }
  if (more > 0) text += fmt::format("{} rejects {} for other reasons (--json lists all)\n", run.policy, core::counted(more, "job"));
  return text;
}

std::string text_of(const std::vector<Run>& runs, const SimulatedJobs& jobs, std::int64_t gpus, const std::string& by) {
  const auto seconds = [](TimeUs t) { return fmt::format("{}", (t + kSecond / 2) / kSecond); };
  std::vector<report::Row> rows;
  for (const Run& run : runs) {
    const sim::SimulationFigures& f = run.figures;
    rows.push_back({run.policy, fmt::format("{}", f.completed), fmt::format("{}", f.rejected), seconds(f.jct_us.mean),
                    seconds(f.jct_us.p50), seconds(f.jct_us.p99), seconds(f.wait_us.mean), seconds(f.makespan_us),
                    fmt::format("{:.1f} %", static_cast<double>(f.gpu_utilisation_ppm) / 1e4), fmt::format("{}", f.preemptions),
                    fmt::format("{}", f.moves), fmt::format("{:.2f} s", run.wall_s)});
  }
  std::string text = fmt::format("{}{}{} on {}; times in seconds\n", jobs.trace().name, jobs.trace().name.empty() ? "" : ": ",
                                 core::counted(jobs.count(), "job"), core::counted(gpus, "GPU"));
  for (const auto& [cause, count] : jobs.trace().dropped) text += fmt::format("  dropped {}: {}\n", core::counted(count, "row"), cause);
  text += "\n" + report::table({"POLICY", "DONE", "REJECTED", "JCT MEAN", "MEDIAN", "P99", "WAIT MEAN", "MAKESPAN", "GPUS USED",
                                "PREEMPTIONS", "MIGRATIONS", "TOOK"},
                               rows);
  std::string rejections;
  for (const Run& run : runs) rejections += rejections_text(run);
  return text + (rejections.empty() ? "" : "\n" + rejections) + deadlines_table(runs) + groups_table(runs, by);
}

/// Settings of every run but its policy.
sim::SimulationSettings settings_of(const SimulateArguments& options, sim::SimulationSettings world, const Request& request) {
  world.request = request;
  world.name_nodes = !options.jobs_out.empty();
  options.run.put_into(world);
  return world;
}

RunWatch watch_of(const std::string& name, const SimulatedJobs& jobs, Along& along) {
  RunWatch watch;
  watch.show = [&along, &name, all = std::max<std::int64_t>(1, jobs.count())](std::int64_t ended) {
    along.line.show(static_cast<int>(100 * ended / all), name);
  };
  watch.job = [&along](const sim::JobOutcome& job) {
    if (along.history) along.history->add(job);
  };
  return watch;
}

/// A run of an external policy. Its failure ends this run only: returns false and reports the reason.
bool simulate_exec(const SimulateArguments& options, const sim::SimulationSettings& world, const std::string& given,
                   const SimulatedJobs& jobs, const Snapshot& cluster, const sim::MeasuresRequest& want, Along& along,
                   std::vector<Run>& runs) {
  const NamedCommand one = named_command(given);
  RequestOptions asked = options.request;
  asked.params.clear();
  Request request = make_request(asked, "fifo");  // threads and backend; the program gives the order
  request.policy = one.name;
  const auto stopped = [] { return remembered_signal() != 0; };
  try {
    sim::ExecPolicy policy(one.command, options.exec.timeout_us(), request, packing_named(options.placement), stopped);
    const sim::Decider decide = [&](const ClusterState& state, Plan& plan, std::vector<sim::Rejected>& away) {
      policy.decide(state, plan, away);
    };
    sim::SimulationSettings settings = settings_of(options, world, request);
    settings.decide = decide;
    Run run = simulate_run(std::move(settings), {one.name, options.cluster}, jobs, cluster, want, watch_of(one.name, jobs, along));
    if (!run.totals.interrupted) policy.finish();
    runs.push_back(std::move(run));
    return true;
  } catch (const sim::ExecPolicyError& error) {
    along.line.clear();
    print_error(error.what());
  } catch (const EnvironmentError& error) {
    along.line.clear();
    print_error(fmt::format("policy '{}': {}", one.name, error.what()));
  }
  return false;
}

Trace drawn_trace(const SimulatedJobs& jobs) {
  Trace trace = jobs.trace();
  const std::unique_ptr<sim::JobSource> all = jobs.all();
  while (const TraceJob* const job = all->next()) {
    trace.jobs.push_back(*job);
    all->release(*job);
  }
  return trace;
}

int run(const SimulateArguments& options) {
  std::vector<Place> inputs{{"--cluster", options.cluster}};
  for (const std::string& file : options.jobs.traces) inputs.push_back({"--trace", file});
  for (Place& file : options.world.inputs()) inputs.push_back(std::move(file));
  std::vector<Place> outputs = places(options.output);
  outputs.push_back({"--jobs-out", options.jobs_out});
  outputs.push_back({"--history-out", options.history_out});
  outputs.push_back({"--trace-out", options.trace_out});
  check_places(inputs, outputs);
  sim::MeasuresRequest want = wanted(options.output, !options.jobs_out.empty());
  RequestOptions asked = options.request;
  if (options.policies.empty() && options.exec.commands.empty()) throw InvalidArgument("--policy or --policy-exec is required");
  if (options.policies.empty() && !options.request.params.empty()) throw InvalidArgument("--param: there is no --policy to take it");
  std::optional<SimulatedHistory> history;
  if (!options.history_out.empty()) {
    if (options.policies.size() + options.exec.commands.size() > 1)
      throw InvalidArgument("--history-out: a job stands in a history once, so it is of one policy");
    history.emplace(options.run.progress, options.request.seed);
  }
  (void)options.exec.timeout_us();  // reports errors before any run
  if (!options.placement.empty() && !options.policies.empty()) asked.params.push_back("packing=" + options.placement);
  std::vector<std::string_view> names(options.policies.begin(), options.policies.end());
  const std::vector<Request> requests = make_requests(asked, names, {sim::ada_srsf_info()});
  check_iterations(options.iterations, options.run.estimates, requests, !options.exec.commands.empty());
  const auto begin = std::chrono::steady_clock::now();
  SimulatedJobs jobs(options.jobs);
  Snapshot cluster = io::cluster_from(options.cluster, jobs.imported());
  for (const std::string& note : jobs.make_queues(cluster)) print_error("note: --virtual-clusters: " + note);
  jobs.draw_for(cluster, options.request.seed);
  if (!options.trace_out.empty()) {
    if (options.jobs.workload.empty()) throw InvalidArgument("--trace-out: it is for jobs that --workload draws");
    write_out(options.trace_out, io::to_json(drawn_trace(jobs)));
  }
  if (!jobs.in_memory()) {
    if (!options.jobs_out.empty()) throw InvalidArgument("--jobs-out: with --stream or --workload jobs are not kept");
    if (options.output.stays) throw InvalidArgument("--stays: with --stream or --workload jobs are not kept");
    want.jobs = false;
  }
  sim::SimulationSettings world;
  options.world.put_into(world);
  options.iterations.put_into(world, cluster);
  const double load_s = seconds_since(begin);
  SimulationOutput output(options.output);
  const std::vector<results::InputFile> files = options.output.out.empty() ? std::vector<results::InputFile>() : input_files(inputs);
  Along along{ProgressLine(), RememberSignals(), std::move(history)};
  std::vector<Run> runs;
  std::string csv = kCsvHead;
  const auto keep = [&](Run& run) {
    run.load_s = load_s;
    run.details["command"] = command_line();
    if (!options.jobs.load.empty()) run.details["load"] = options.jobs.load;
    run.inputs = files;
    const auto before = std::chrono::steady_clock::now();
    if (!options.jobs_out.empty()) {
      for (const sim::JobRow& row : run.measures.jobs) csv += csv_row(run.policy, jobs.trace(), row.outcome);
    }
    output.store(run);
    run.store_s = seconds_since(before);
    along.line.clear();
    if (options.json) print(simulation_json(run, jobs.trace(), options.request.seed, group_by(options.output.by)));
  };
  for (std::size_t i = 0; i < requests.size() && remembered_signal() == 0; ++i) {
    const std::string& name = options.policies[i];
    runs.push_back(simulate_policy(settings_of(options, world, requests[i]), {name, options.cluster}, jobs, cluster, want,
                                   watch_of(name, jobs, along)));
    keep(runs.back());
  }
  bool failed = false;
  for (std::size_t i = 0; i < options.exec.commands.size() && remembered_signal() == 0; ++i) {
    const std::size_t before = runs.size();
    failed = !simulate_exec(options, world, options.exec.commands[i], jobs, cluster, want, along, runs) || failed;
    if (runs.size() > before) keep(runs.back());
  }
  along.line.clear();
  if (!options.json && !runs.empty()) {
    print(text_of(runs, jobs, runs.front().totals.gpus, options.output.by));
  }
  if (!options.jobs_out.empty()) write_out(options.jobs_out, csv + csv_of_dropped(jobs.trace()));
  if (along.history) {
    write_out(options.history_out, along.history->csv());
    if (!along.history->has_rows()) print_error("note: --history-out: no job that completed states epochs and the size of its dataset");
  }
  output.finish();
  if (remembered_signal() != 0) print_error("note: interrupted: the last run ends where it was");
  if (failed) return kUsage;
  const auto all_rejected = [](const Run& run) {
    return run.figures.rejected > 0 && run.figures.completed + run.figures.unfinished + run.figures.killed == 0;
  };
  return std::all_of(runs.begin(), runs.end(), all_rejected) ? kNo : kDone;
}

}  // namespace

void add_simulate(Commands& commands) {
  auto options = std::make_shared<SimulateArguments>();
  CLI::App& app = commands.add("simulate", "Replay a trace on a cluster under one or more policies",
                               "berth simulate --cluster 32x8 --policy fifo srtf las \\\n"
                               "    --trace jobs.csv.gz --trace-format helios-venus",
                               options, &run);
  app.add_option("--cluster", options->cluster, "Use this cluster: a file, or NODESxGPUS such as 32x8; else the trace's")->type_name("C");
  add_job_options(app, options->jobs);
  add_stream_option(app, options->jobs);
  app.add_option("--policy", options->policies, "Decide by these policies: NAME, or NAME@PARAM=VALUE@PARAM=VALUE")->type_name("NAME");
  add_exec_options(app, options->exec);
  add_param_options(app, options->request.params, options->placement);
  add_source_options(app, options->run);
  add_world_options(app, options->world);
  add_iteration_options(app, options->iterations);
  add_decision_options(app, options->run);
  app.add_option("--jobs-out", options->jobs_out, "Write a row for each job and policy to FILE (CSV)")->type_name("FILE");
  app.add_option("--trace-out", options->trace_out, "Write the jobs that --workload draws to FILE, as a trace")->type_name("FILE");
  app.add_option("--history-out", options->history_out, "Write the epochs of completed jobs for 'berth fit' to FILE (CSV)")
      ->type_name("FILE");
  add_output_options(app, options->output);
  app.add_option("--threads", options->request.threads, "Use N CPU threads in a decision; 0 uses all")
      ->check(whole_number<int>())
      ->type_name("N")
      ->capture_default_str();
  add_seed_option(app, options->request.seed, "Seed the random numbers of policies and estimates");
  add_json_flag(app, options->json, "Print one JSON object a line for each policy");
}

}  // namespace berth::cli
