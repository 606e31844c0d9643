#include "host/cli/simulate/simulated_run.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "host/cli/base/interrupt.hpp"
#include "host/cli/base/values.hpp"
#include "host/sim/base/working_gpus.hpp"
#include "host/sim/iterations/ada_srsf.hpp"
#include "host/sim/measures/figures.hpp"
#include "host/sim/measures/stays.hpp"

namespace berth::cli {

void RunOptions::put_into(sim::SimulationSettings& settings) const {
  settings.estimates = estimates;
  settings.progress = progress;
  settings.elastic = elastic;
  if (!round.empty()) {
    settings.round_us = parse_duration(round);
    if (settings.round_us <= 0) throw InvalidArgument("--round: a round takes a time above 0");
  }
  settings.events_too = events_too;
  if (settings.events_too && settings.round_us == 0)
    throw InvalidArgument("--at-events: without --round decisions are made at events anyway");
}

void add_param_options(CLI::App& app, std::vector<std::string>& params, std::string& placement) {
  app.add_option("--param", params, "Set a parameter of every policy that has it; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  app.add_option("--placement", placement, "Set how jobs are packed: short for --param packing=")
      ->check(CLI::IsMember({"count", "consolidate", "emptiest", "topology", "contention"}))
      ->type_name("NAME");
}

void add_source_options(CLI::App& app, RunOptions& options) {
  app.add_option("--estimates", options.estimates, "Estimate run times: oracle (the truth), reactive, rolling, noise:P, none")
      ->type_name("SOURCE")
      ->capture_default_str();
  app.add_option("--progress", options.progress, "Report progress: none, epochs, or noise:P (also loss and accuracy)")
      ->type_name("SOURCE")
      ->capture_default_str();
}

void add_decision_options(CLI::App& app, RunOptions& options) {
  app.add_option("--round", options.round, "Decide at multiples of DURATION only; else at every event")->type_name("DURATION");
  app.add_flag("--at-events", options.events_too, "With --round, also decide at every event");
  app.add_flag("--elastic", options.elastic, "Let elastic jobs run at every GPU count that was measured");
}

results::Run simulate_run(sim::SimulationSettings settings, const RunNames& names, const SimulatedJobs& jobs, const Snapshot& cluster,
                          const sim::MeasuresRequest& want, const RunWatch& watch) {
  results::Run run;
  run.policy = names.policy;
  run.cluster = names.cluster;
  run.trace = &jobs.trace();
  run.jobs = jobs.count();
  sim::FiguresOf figures;
  sim::MeasuresOf measures(jobs.facts(), sim::working_gpus(cluster), want);
  settings.series = measures.series();
  std::optional<sim::Stays> stays;
  if (want.stays) settings.stays = &stays.emplace();
  std::vector<sim::QueueFigures> queues;
  if (want.queues) settings.queues = &queues;
  std::int64_t ended = 0;
  settings.interrupted = [&] {
    if (watch.show) watch.show(ended);
    return remembered_signal() != 0 || (watch.stop && watch.stop());
  };
  const std::unique_ptr<sim::JobSource> all = jobs.all();
  const auto begin = std::chrono::steady_clock::now();
  run.totals = sim::simulate({jobs.trace().profiles, jobs.facts(), *all}, cluster, settings, [&](const sim::JobOutcome& job) {
    figures.add(job);
    measures.add(job);
    if (watch.job) watch.job(job);
    if (job.end == sim::JobOutcome::End::kRejected) ++run.rejections[job.reason];
    if (++ended % 256 == 0 && watch.show) watch.show(ended);
  });
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  run.figures = figures.finish(run.totals);
  run.measures = measures.finish(run.totals);
  run.measures.queues = std::move(queues);
  if (stays) {
    run.nodes = stays->nodes();
    run.stays = stays->finish(run.totals.last_end_us);
  }
  settings.series = nullptr;  // their lifetime ends with this call
  settings.stays = nullptr;
  settings.queues = nullptr;
  settings.interrupted = {};
  settings.decide = {};
  run.settings = std::move(settings);
  return run;
}

results::Run simulate_policy(sim::SimulationSettings settings, const RunNames& names, const SimulatedJobs& jobs, const Snapshot& cluster,
                             const sim::MeasuresRequest& want, const RunWatch& watch) {
  if (settings.request.policy != sim::ada_srsf_info().name) return simulate_run(std::move(settings), names, jobs, cluster, want, watch);
  if (!cluster.queues.empty() && !jobs.facts().queues.empty())
    throw InvalidArgument("policy 'ada-srsf' knows no quotas: the cluster has queues, and jobs name them");
  const sim::AdaSrsfSettings rules = sim::ada_srsf_settings(settings.request.params);
  settings.iterations->rules = rules.rules;
  sim::AdaSrsf policy(rules, settings.iterations->network, settings.iterations->gpu_jobs, settings.request);
  settings.decide = [&](const ClusterState& state, Plan& plan, std::vector<sim::Rejected>& away) { policy.decide(state, plan, away); };
  return simulate_run(std::move(settings), names, jobs, cluster, want, watch);
}

}  // namespace berth::cli
