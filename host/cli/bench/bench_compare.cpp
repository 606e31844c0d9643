#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "host/cli/bench/bench_runs.hpp"

namespace berth::cli {
namespace {

double below_bound(const SearchSize& size, std::int64_t value) {
  return 100 * static_cast<double>(size.bound - value) / static_cast<double>(size.bound);
}

/// Puts the values of an operation's runs at their sides.
class Rows {
 public:
  Rows(const BenchReport& report, std::vector<BenchComparison>& to) : report_(report), to_(to) {}

  template <class Run, class Value>
  void add(const std::string& operation, const char* unit, bool less_is_better, const std::vector<Run>& runs, const Value& value) {
    BenchComparison row{operation, unit, less_is_better, NAN, NAN, NAN};
    for (const Run& run : runs) {
      const auto named = [&](const BenchSide& side) { return side.name == run.side; };
      const auto side = std::find_if(report_.sides.begin(), report_.sides.end(), named);
      if (side == report_.sides.end()) continue;
      double& at = side->backend == Backend::kCuda ? row.gpu : side->threads == 1 ? row.cpu_one : row.cpu_all;
      at = value(run);
    }
    to_.push_back(row);
  }

 private:
  const BenchReport& report_;
  std::vector<BenchComparison>& to_;
};

void compare_search(const SearchSize& size, Rows& rows) {
  std::vector<TimeUs> budgets;
  for (const SearchRun& run : size.runs) {
    if (std::find(budgets.begin(), budgets.end(), run.budget_us) == budgets.end()) budgets.push_back(run.budget_us);
  }
  for (const TimeUs budget : budgets) {
    std::vector<SearchRun> runs;
    std::copy_if(size.runs.begin(), size.runs.end(), std::back_inserter(runs),
                 [&](const SearchRun& run) { return run.budget_us == budget; });
    const std::string operation = fmt::format("search, {} GPUs, {:g} s", size.gpus, static_cast<double>(budget) / kSecond);
    rows.add(operation, "generations/s", false, runs,
             [](const SearchRun& run) { return static_cast<double>(run.found.generations) / std::max(run.found.searched_s, 1e-9); });
    if (size.bound <= 0) continue;
    rows.add(operation, "% below bound", true, runs, [&](const SearchRun& run) { return below_bound(size, run.found.value); });
  }
}

}  // namespace

std::vector<BenchComparison> compare_sides(const BenchReport& report) {
  std::vector<BenchComparison> all;
  Rows rows(report, all);
  for (const SearchSize& size : report.search) compare_search(size, rows);
  for (const PassesSize& size : report.passes) {
    const std::string operation = fmt::format("{} scenarios, {} nodes", size.scenarios, size.nodes);
    rows.add(operation, "scenarios/s", false, size.runs, [&](const PassesRun& run) { return size.scenarios / run.median_s; });
    rows.add(operation, "jobs placed", false, size.runs, [](const PassesRun& run) { return static_cast<double>(run.placed); });
  }
  for (const DecisionsSize& size : report.decisions) {
    const std::string operation = fmt::format("decide {}, {} nodes", size.policy, size.nodes);
    rows.add(operation, "decisions/s", false, size.runs, [](const DecisionsRun& run) { return run.decisions / run.sum_s; });
    rows.add(operation, "GPUs in use", false, size.runs, [](const DecisionsRun& run) { return static_cast<double>(run.gpus_used); });
  }
  for (const ReplaysSize& size : report.replays) {
    const std::string operation = fmt::format("{} replays of {}", size.replays, size.policy);
    rows.add(operation, "jobs/s", false, size.runs,
             [&](const ReplaysRun& run) { return static_cast<double>(size.replays) * size.jobs / run.median_s; });
    rows.add(operation, "mean JCT, s", true, size.runs, [](const ReplaysRun& run) { return run.mean_jct_s; });
  }
  return all;
}

}  // namespace berth::cli
