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

}  // namespace

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
