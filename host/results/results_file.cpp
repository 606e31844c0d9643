#include "host/results/results_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "berth/version.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/base/wide.hpp"
#include "host/io/json/json_writer.hpp"
#include "host/results/schema.hpp"
#include "host/results/table_rows.hpp"

namespace berth::results {
namespace {

std::string now_utc() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return core::format_civil(std::chrono::duration_cast<std::chrono::seconds>(since).count() * kSecond) + "Z";
}

std::string params_json(const Request& request) {
  io::JsonWriter out;
  out.object([&] {
    for (const auto& [name, value] : request.params) out.text(name, value);
  });
  std::string text = out.finish();
  text.pop_back();  // the line's end
  return text;
}

}  // namespace

void add_spread(TableRows& row, const std::string& of, const sim::Distribution& spread) {
  row.number("mean_" + of, spread.mean).number("median_" + of, spread.p50).number("p90_" + of, spread.p90);
  row.number("p99_" + of, spread.p99).number("max_" + of, spread.max);
}

namespace {

void add_known(TableRows& row, std::string_view name, std::int64_t value, bool known) {
  known ? row.number(name, value) : row.nothing(name);
}

void add_settings(TableRows& row, const sim::SimulationSettings& settings) {
  row.text("progress", settings.progress).number("at_events", settings.events_too ? 1 : 0);
  const bool followed = settings.iterations.has_value();
  row.text("fidelity", sim::fidelity_name(settings));
  const sim::IterationSettings iterations = settings.iterations.value_or(sim::IterationSettings{});
  add_known(row, "gpu_jobs", iterations.gpu_jobs, followed);
  add_known(row, "network_a_us", iterations.network.latency_us, followed);
  add_known(row, "network_b_fs", iterations.network.byte_fs, followed);
  add_known(row, "network_eta_fs", iterations.network.contention_fs, followed);
}

void add_run(Database& database, const Run& run) {
  const sim::SimulationFigures& f = run.figures;
  const sim::Deadlines& deadlines = run.measures.deadlines;
  const std::string written = now_utc(), params = params_json(run.settings.request);
  TableRows row(database, "runs");
  row.text("written", written).text("berth", BERTH_VERSION).text("policy", run.policy).text("params", params);
  row.text("trace", run.trace->name).text("cluster", run.cluster);
  row.text("estimates", run.settings.estimates).text("overheads", run.settings.overheads.name);
  row.text("events", run.settings.events.name);
  const sim::FailureRates& rates = run.settings.failures;
  row.number("node_failure_us", rates.node_us).number("gpu_failure_us", rates.gpu_us).number("repair_us", rates.repair_us);
  row.number("crash_gpu_us", rates.crash_gpu_us).number("kill_gpu_us", rates.kill_gpu_us);
  row.number("round_us", run.settings.round_us).number("elastic", run.settings.elastic ? 1 : 0);
  row.number("seed", static_cast<std::int64_t>(run.settings.request.seed));
  row.number("gpus", run.totals.gpus).number("jobs", run.jobs);
  row.number("completed", f.completed).number("rejected", f.rejected).number("unfinished", f.unfinished);
  row.number("killed", f.killed);
  row.number("interrupted", run.totals.interrupted ? 1 : 0);
  add_spread(row, "jct_us", f.jct_us);
  add_spread(row, "queue_us", f.wait_us);
  add_spread(row, "first_start_us", f.first_us);
  row.number("makespan_us", f.makespan_us).number("gpu_utilisation_ppm", f.gpu_utilisation_ppm);
  row.number("goodput_ppm", f.goodput_ppm).number("effective_training_time_ppm", f.effective_ppm).number("overhead_ppm", f.overhead_ppm);
  row.number("gpu_us", core::saturate(f.gpu_us));
  add_spread(row, "rho_ppm", run.measures.fairness.rho_ppm);
  row.number("jain_ppm", run.measures.fairness.jain_ppm);
  row.number("soft_deadlines", deadlines.soft).number("soft_missed", deadlines.soft_missed);
  row.number("hard_deadlines", deadlines.hard).number("hard_missed", deadlines.hard_missed);
  row.number("starts", f.starts).number("preemptions", f.preemptions).number("moves", f.moves);
  row.number("failures", run.totals.failures).number("job_failures", f.failures).number("repairs", f.repairs);
  row.number("decisions", run.totals.decisions);
  row.number("decision_p50_us", run.totals.decision_ns.p50 / 1000).number("decision_p99_us", run.totals.decision_ns.p99 / 1000);
  row.number("load_us", static_cast<TimeUs>(run.load_s * 1e6)).number("wall_us", static_cast<TimeUs>(run.wall_s * 1e6));
  add_settings(row, run.settings);
  row.write();
}

void add_losses(Database& database, std::int64_t id, const Run& run) {
  TableRows row(database, "losses");
  for (std::size_t loss = 0; loss < sim::kLosses; ++loss) {
    row.number("run", id).text("cause", sim::kLossNames[loss]).number("gpu_us", core::saturate(run.figures.lost_gpu_us[loss]));
    row.write();
  }
}

void add_jobs(Database& database, std::int64_t id, const Run& run) {
  TableRows row(database, "jobs");
  for (const sim::JobRow& job : run.measures.jobs) {
    const sim::JobOutcome& o = job.outcome;
    const TraceJob& traced = run.trace->jobs[to_index(o.job)];
    const bool completed = o.end == sim::JobOutcome::End::kCompleted;
    row.number("run", id).text("job", traced.id).text("user", traced.user).text("vc", traced.virtual_cluster);
    row.number("gpus", traced.gpus).text("outcome", sim::kEndNames[static_cast<int>(o.end)]).number("submit_us", o.submit_us);
    add_known(row, "start_us", o.start_us, o.start_us != kNever);
    add_known(row, "end_us", o.end_us, o.end_us != kNever);
    add_known(row, "jct_us", o.jct_us(), completed);
    add_known(row, "queue_us", o.waited_us(), completed);
    add_known(row, "rho_ppm", job.rho_ppm, completed);
    row.number("held_us", o.held_us).number("overhead_us", o.overhead_us).number("gpu_us", core::saturate(o.gpu_us));
    row.number("starts", o.starts).number("preemptions", o.preemptions).number("moves", o.moves);
    row.number("failures", o.failures).number("repairs", o.repairs);
    add_known(row, "deadline_us", traced.deadline_us, traced.deadline_us != kNever);
    o.reason.empty() ? row.nothing("reason") : row.text("reason", o.reason);
    row.text("queue", traced.queue);
    row.write();
  }
}

void add_deadlines(Database& database, std::int64_t id, const Run& run) {
  const sim::Deadlines& d = run.measures.deadlines;
  if (d.hard + d.soft == 0) return;
  TableRows row(database, "deadlines");
  row.number("run", id).number("value", d.value).number("value_met", d.value_met);
  row.number("promised", d.promised).number("promised_missed", d.promised_missed);
  row.number("warned", d.warned).number("warned_met", d.warned_met).number("refused", d.refused);
  row.number("best_effort", d.best_effort).number("best_effort_completed", d.best_effort_completed);
  row.write();
  if (d.met_later == 0) return;
  TableRows steps(database, "deadline_steps");
  steps.number("run", id).number("met_later", d.met_later);
  steps.write();
}

void add_series(Database& database, std::int64_t id, const Run& run) {
  TableRows row(database, "series");
  for (const sim::Sample& sample : run.measures.series) {
    row.number("run", id).number("from_us", sample.from_us).number("until_us", sample.until_us);
    for (std::size_t l = 0; l < sim::kLevels; ++l) row.number(fmt::format("{}_micro", sim::kLevelNames[l]), sample.micro[l]);
    row.write();
  }
}

void add_groups(Database& database, std::int64_t id, const Run& run) {
  TableRows row(database, "groups");
  for (std::size_t by = 0; by < sim::kGroupings; ++by) {
    for (const sim::GroupFigures& group : run.measures.groups[by]) {
      row.number("run", id).text("grouping", sim::kGroupingNames[by]).text("name", group.name);
      row.number("jobs", group.jobs).number("completed", group.completed).number("rejected", group.rejected);
      add_spread(row, "jct_us", group.jct_us);
      row.number("mean_queue_us", group.mean_wait_us).number("gpu_us", core::saturate(group.gpu_us));
      row.write();
    }
  }
}

void add_queues(Database& database, std::int64_t id, const Run& run) {
  TableRows row(database, "queues");
  for (const sim::QueueFigures& queue : run.measures.queues) {
    row.number("run", id).text("name", queue.name);
    row.number("gpu_us", core::saturate(queue.gpu_us)).number("guaranteed_gpu_us", core::saturate(queue.guaranteed_gpu_us));
    row.number("fair_gpu_us", core::saturate(queue.fair_gpu_us)).number("borrowed_gpu_us", core::saturate(queue.borrowed_gpu_us));
    row.number("shortfall_gpu_us", core::saturate(queue.shortfall_gpu_us));
    row.number("fair_shortfall_gpu_us", core::saturate(queue.fair_shortfall_gpu_us));
    row.number("starved_us", queue.starved_us).number("reclaims", queue.reclaims);
    row.number("mean_reclaim_us", queue.reclaim_us.mean).number("median_reclaim_us", queue.reclaim_us.p50);
    row.number("p95_reclaim_us", queue.reclaim_us.p95).number("max_reclaim_us", queue.reclaim_us.max);
    row.number("lapsed", queue.lapsed).number("displaced", queue.displaced).number("displaced_for", queue.displaced_for);
    row.number("lost_gpu_us", core::saturate(queue.lost_gpu_us)).number("hours", queue.hours);
    row.number("hours_below_half", queue.hours_below_half).number("worst_hour_ppm", queue.worst_hour_ppm);
    row.write();
  }
}

void add_origin(Database& database, std::int64_t id, const Run& run) {
  TableRows detail(database, "details");
  for (const auto& [name, value] : run.details) {
    detail.number("run", id).text("name", name).text("value", value);
    detail.write();
  }
  TableRows row(database, "inputs");
  for (const InputFile& file : run.inputs) {
    row.number("run", id).text("option", file.option).text("path", file.path).number("bytes", file.bytes).text("sha256", file.sha256);
    row.write();
  }
}

void add_stays(Database& database, std::int64_t id, const Run& run) {
  TableRows nodes(database, "nodes");
  for (std::size_t n = 0; n < run.nodes.size(); ++n) {
    nodes.number("run", id).number("node", static_cast<std::int64_t>(n)).text("name", run.nodes[n].name);
    nodes.number("gpus", run.nodes[n].gpus);
    nodes.write();
  }
  TableRows row(database, "stays");
  for (const sim::Stay& stay : run.stays) {
    row.number("run", id).text("job", run.trace->jobs[to_index(stay.job)].id).number("node", stay.node);
    row.number("gpus", static_cast<std::int64_t>(stay.gpus)).number("share_ppm", stay.share_ppm);
    row.number("from_us", stay.from_us).number("until_us", stay.until_us);
    row.write();
  }
}

}  // namespace

// Nothing is written before the file is known to be of this kind, or empty.
void require_results(Database& database, const std::string& schema, const std::string& path, bool may_be_empty) {
  database.run("BEGIN");  // others may make it one meanwhile
  const bool fresh = database.number(fmt::format("SELECT count(*) FROM {}.sqlite_schema", schema)) == 0;
  const std::int64_t kind = database.number(fmt::format("PRAGMA {}.application_id", schema));
  const std::int64_t version = database.number(fmt::format("PRAGMA {}.user_version", schema));
  database.run("COMMIT");
  if (kind != kApplicationId && (!may_be_empty || !fresh || kind != 0 || version != 0)) {
    throw InputError(path, "", 0, "is an SQLite file of something else, not of results");
  }
  if (kind == kApplicationId && version != kSchemaVersion) {
    throw InputError(
        path, "", 0,
        fmt::format("has results in version {}; this program knows version {}: write to another file", version, kSchemaVersion));
  }
}

ResultsFile::ResultsFile(const std::string& path) : database_(path) {
  require_results(database_, "main", path, true);
  database_.log_writes();
  create_tables();
}

ResultsFile::ResultsFile(Database::InMemory memory) : database_(memory) { create_tables(); }

void ResultsFile::create_tables() {
  Transaction transaction(database_);
  database_.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, kSchemaVersion) + kSchema);
  transaction.commit();
}

std::int64_t ResultsFile::add(const Run& run) {
  Transaction transaction(database_);
  const std::int64_t id = add_within(run);
  transaction.commit();
  return id;
}

std::int64_t ResultsFile::add_within(const Run& run) {
  add_run(database_, run);
  const std::int64_t id = database_.last_row();
  add_losses(database_, id, run);
  add_jobs(database_, id, run);
  add_series(database_, id, run);
  add_groups(database_, id, run);
  add_queues(database_, id, run);
  add_deadlines(database_, id, run);
  add_origin(database_, id, run);
  add_stays(database_, id, run);
  return id;
}

}  // namespace berth::results
