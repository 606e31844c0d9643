#include "host/cli/simulate/simulation_measures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/cli/simulate/simulation_output.hpp"
#include "host/core/base/wide.hpp"
#include "host/io/json/json_writer.hpp"
#include "host/report/table.hpp"

namespace berth::cli {
namespace {

constexpr std::size_t kMostGroups = 20;  // of a run, in the table

const std::vector<sim::GroupFigures>& groups_of(const results::Run& run, const std::string& by) {
  return run.measures.groups[static_cast<std::size_t>(*group_by(by))];
}

std::string rounded_seconds(TimeUs t) { return fmt::format("{}", (t + kSecond / 2) / kSecond); }

}  // namespace

void add_spread(io::JsonWriter& out, const std::string& of, const sim::Distribution& s) {
  out.number("mean_" + of, s.mean, 6);
  out.number("median_" + of, s.p50, 6);
  out.number("p90_" + of, s.p90, 6);
  out.number("p99_" + of, s.p99, 6);
  out.number("max_" + of, s.max, 6);
}

void add_settings(io::JsonWriter& out, const sim::SimulationSettings& settings) {
  out.key("params");
  out.object([&] {
    for (const auto& [name, value] : settings.request.params) out.text(name, value);
  });
  out.text("estimates", settings.estimates);
  out.text("overheads", settings.overheads.name);
  out.text("progress", settings.progress);
  out.text_unless("events", settings.events.name, "");
  const sim::FailureRates& rates = settings.failures;
  out.number_unless("node_failure_s", rates.node_us, 0, 6);
  out.number_unless("gpu_failure_s", rates.gpu_us, 0, 6);
  out.number_unless("repair_s", rates.repair_us, 0, 6);
  out.number_unless("crash_gpu_s", rates.crash_gpu_us, 0, 6);
  out.number_unless("kill_gpu_s", rates.kill_gpu_us, 0, 6);
  out.number_unless("round_s", settings.round_us, 0, 6);
  out.flag_unless("at_events", settings.events_too, false);
  out.flag_unless("elastic", settings.elastic, false);
  out.text("fidelity", settings.iterations ? "iteration" : "rate");
  if (!settings.iterations) return;
  out.number("gpu_jobs", settings.iterations->gpu_jobs);
  out.key("network");
  out.object([&] {
    out.number("a_s", settings.iterations->network.latency_us, 6);
    out.number("b_ns", settings.iterations->network.byte_fs, 6);
    out.number("eta_ns", settings.iterations->network.contention_fs, 6);
  });
}

void add_measures(io::JsonWriter& out, const results::Run& run) {
  const sim::SimulationFigures& f = run.figures;
  const sim::Deadlines& deadlines = run.measures.deadlines;
  out.number("killed", f.killed);
  out.number("failures", run.totals.failures);
  out.number("job_failures", f.failures);
  out.number("repairs", f.repairs);
  out.number("goodput", f.goodput_ppm, 6);
  out.number("effective_training_time", f.effective_ppm, 6);
  out.number("gpu_s", core::saturate(f.gpu_us), 6);
  out.key("lost_gpu_s");
  out.object([&] {
    for (std::size_t loss = 0; loss < sim::kLosses; ++loss) out.number(sim::kLossNames[loss], core::saturate(f.lost_gpu_us[loss]), 6);
  });
  add_spread(out, "rho", run.measures.fairness.rho_ppm);
  out.number("jain", run.measures.fairness.jain_ppm, 6);
  out.key("deadlines");
  out.object([&] {
    out.number("soft", deadlines.soft);
    out.number("soft_missed", deadlines.soft_missed);
    out.number("hard", deadlines.hard);
    out.number("hard_missed", deadlines.hard_missed);
  });
}

void add_groups(io::JsonWriter& out, const results::Run& run, const std::string& by) {
  if (by.empty()) return;
  out.text("by", by);
  out.list(
      "groups", groups_of(run, by),
      [&](const sim::GroupFigures& group) {
        out.object([&] {
          out.text("name", group.name);
          out.number("jobs", group.jobs);
          out.number("completed", group.completed);
          out.number("rejected", group.rejected);
          add_spread(out, "jct_s", group.jct_us);
          out.number("mean_queue_s", group.mean_wait_us, 6);
          out.number("gpu_s", core::saturate(group.gpu_us), 6);
        });
      },
      true);
}

std::string groups_table(const std::vector<results::Run>& runs, const std::string& by) {
  if (by.empty()) return "";
  std::vector<report::Row> rows;
  std::size_t left_out = 0;
  for (const results::Run& run : runs) {
    std::vector<sim::GroupFigures> groups = groups_of(run, by);
    const auto more_jobs = [](const sim::GroupFigures& a, const sim::GroupFigures& b) { return a.jobs > b.jobs; };
    if (groups.size() > kMostGroups) {
      std::stable_sort(groups.begin(), groups.end(), more_jobs);
      left_out = groups.size() - kMostGroups;
      groups.resize(kMostGroups);
    }
    for (const sim::GroupFigures& group : groups) {
      rows.push_back({run.policy, group.name.empty() ? "(none)" : group.name, fmt::format("{}", group.completed),
                      fmt::format("{}", group.rejected), rounded_seconds(group.jct_us.mean), rounded_seconds(group.jct_us.p99),
                      rounded_seconds(group.mean_wait_us)});
    }
  }
  constexpr const char* kHeads[sim::kGroupings] = {"QUEUE", "VC", "USER", "GPUS"};
  const std::string head = kHeads[static_cast<std::size_t>(*group_by(by))];
  std::string text = "\n" + report::table({"POLICY", head, "DONE", "REJECTED", "JCT MEAN", "P99", "WAIT MEAN"}, rows);
  if (left_out > 0) text += fmt::format("... and {} more with fewer jobs (--json has all)\n", left_out);
  return text;
}

}  // namespace berth::cli
