#include "host/cli/simulate/simulation_measures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/cli/simulate/simulation_output.hpp"
#include "host/report/table.hpp"

namespace berth::cli {
namespace {

constexpr std::size_t kMostGroups = 20;  // of a run, in the table

const std::vector<sim::GroupFigures>& groups_of(const results::Run& run, const std::string& by) {
  return run.measures.groups[static_cast<std::size_t>(*group_by(by))];
}

std::string rounded_seconds(TimeUs t) { return fmt::format("{}", (t + kSecond / 2) / kSecond); }

std::string gpu_hours(__int128 gpu_us) { return fmt::format("{:.1f}", static_cast<double>(gpu_us) / 3.6e9); }

std::string queues_table(const std::vector<results::Run>& runs) {
  std::vector<report::Row> rows;
  std::size_t left_out = 0;
  for (const results::Run& run : runs) {
    const std::vector<sim::QueueFigures>& queues = run.measures.queues;
    if (queues.size() > kMostGroups) left_out = queues.size() - kMostGroups;
    for (std::size_t q = 0; q < std::min(queues.size(), kMostGroups); ++q) {
      const sim::QueueFigures& one = queues[q];
      rows.push_back({run.policy, one.name, gpu_hours(one.gpu_us), gpu_hours(one.guaranteed_gpu_us), gpu_hours(one.fair_gpu_us),
                      gpu_hours(one.borrowed_gpu_us), gpu_hours(one.shortfall_gpu_us), rounded_seconds(one.starved_us),
                      rounded_seconds(one.reclaim_us.p95), fmt::format("{}", one.displaced), gpu_hours(one.lost_gpu_us)});
    }
  }
  if (rows.empty()) return "";
  std::string text =
      "\nGPU-hours by queue, and seconds\n\n" + report::table({"POLICY", "QUEUE", "HAD", "ENTITLED", "FAIR SHARE", "BORROWED", "SHORT OF",
                                                               "STARVED", "RECLAIM P95", "DISPLACED", "LOST"},
                                                              rows, {}, 2);
  if (left_out > 0) text += fmt::format("... and {} more queues (--json has all)\n", left_out);
  return text;
}

}  // namespace

std::string deadlines_table(const std::vector<results::Run>& runs) {
  std::vector<report::Row> rows;
  for (const results::Run& run : runs) {
    const sim::Deadlines& d = run.measures.deadlines;
    if (d.hard + d.soft == 0) continue;
    const auto part = [](std::int64_t missed, std::int64_t all) {
      return all == 0 ? std::string("-") : fmt::format("{} of {}", all - missed, all);
    };
    const bool promises = d.promised + d.warned + d.refused > 0;
    rows.push_back({run.policy, fmt::format("{:.2f} %", static_cast<double>(d.met_ppm) / 1e4), part(d.hard_missed, d.hard),
                    part(d.soft_missed, d.soft), fmt::format("{}", d.met_later), fmt::format("{} of {}", d.value_met, d.value),
                    rounded_seconds(d.late_us.p50), rounded_seconds(d.late_us.p99), promises ? part(d.promised_missed, d.promised) : "-",
                    promises ? part(d.warned - d.warned_met, d.warned) : "-", promises ? fmt::format("{}", d.refused) : "-"});
  }
  if (rows.empty()) return "";
  return "\nDeadlines that were met; a rejected job missed its deadline\n\n" +
         report::table({"POLICY", "MET", "HARD", "SOFT", "SOFT LATER", "VALUE", "LATE MEDIAN", "P99", "PROMISED", "WARNED", "REFUSED"},
                       rows, {}, 1);
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
  std::string text = "\n" + report::table({"POLICY", head, "DONE", "REJECTED", "JCT MEAN", "P99", "WAIT MEAN"}, rows, {}, 2);
  if (left_out > 0) text += fmt::format("... and {} more with fewer jobs (--json has all)\n", left_out);
  return group_by(by) == sim::GroupBy::kQueue ? text + queues_table(runs) : text;
}

}  // namespace berth::cli
