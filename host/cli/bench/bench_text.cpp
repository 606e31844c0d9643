#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "berth/build_id.hpp"
#include "berth/version.hpp"
#include "host/cli/bench/bench_runs.hpp"
#include "host/core/base/violations.hpp"
#include "host/report/table.hpp"

namespace berth::cli {
namespace {

constexpr TimeUs kInstants[] = {1'000, 3'000, 10'000, 30'000, 100'000, 300'000, 1'000'000, 3'000'000};
double seconds_of(TimeUs us) { return static_cast<double>(us) / kSecond; }

std::string time_text(double seconds) {
  if (seconds < 0.001) return fmt::format("{:.0f} us", 1e6 * seconds);
  if (seconds < 0.1) return fmt::format("{:.1f} ms", 1e3 * seconds);
  return seconds < 1 ? fmt::format("{:.0f} ms", 1e3 * seconds) : fmt::format("{:.2f} s", seconds);
}
std::string budget_text(TimeUs us) { return us < kSecond ? fmt::format("{} ms", us * 1000 / kSecond) : fmt::format("{} s", us / kSecond); }

std::string machine_text(const BenchReport& report) {
  const MachineFacts& m = report.machine;
  std::string text = fmt::format("machine   {}, {}{}{}\n", m.cpu.empty() ? "CPU model not shown by this machine" : m.cpu,
                                 core::counted(m.threads, "thread"),
                                 m.memory_bytes > 0 ? fmt::format(", {:.1f} GiB", static_cast<double>(m.memory_bytes) / (1 << 30)) : "",
                                 m.virtual_machine ? ", virtual" : "");
  text += fmt::format("build     berth {} (build {}), {}{}\n", BERTH_VERSION, BERTH_BUILD_ID, m.compiler,
                      m.optimised ? "" : ", NOT OPTIMISED: its times say nothing");
  for (const core::DeviceInfo& gpu : m.gpus) {
    text += fmt::format("gpu       {}, driver for CUDA {}: {}; its clocks are not shown: NVML is not linked\n", gpu.name, gpu.driver_cuda,
                        gpu.why_not.empty() ? "usable" : "not used: " + gpu.why_not);
  }
  if (m.gpus.empty()) text += fmt::format("gpu       none: {}\n", m.why_no_gpu);
  const ClockReading& c = report.before;
  std::vector<std::string> shown;
  if (!c.governors.empty()) shown.push_back(fmt::format("governor {}", fmt::join(c.governors, ", ")));
  if (c.khz > 0) {
    std::string clock = fmt::format("{} MHz before", c.khz / 1000);
    if (report.after.khz > 0) clock += fmt::format(", {} after", report.after.khz / 1000);
    if (c.most_khz > 0) clock += fmt::format(" (of {} to {})", c.least_khz / 1000, c.most_khz / 1000);
    shown.push_back(clock);
  }
  if (report.after.throttled >= 0) shown.push_back(fmt::format("throttled {} times", report.after.throttled - c.throttled));
  if (c.load_milli >= 0) shown.push_back(fmt::format("load before {:.2f}", static_cast<double>(c.load_milli) / 1000));
  shown.push_back(fmt::format("the same arithmetic {} before", time_text(c.fixed_work_s)));
  if (report.after.fixed_work_s > 0) shown.back() += fmt::format(", {} after", time_text(report.after.fixed_work_s));
  text += fmt::format("clocks    {}\n", fmt::join(shown, "; "));
  if (const auto missing = clocks_not_shown(c); !missing.empty()) {
    text += fmt::format("          not shown by this machine: {}\n", fmt::join(missing, ", "));
  }
  for (const std::string& warning : report.warnings) text += fmt::format("warning   {}\n", warning);
  return text;
}

std::string below_bound(const SearchSize& size, std::int64_t value) {
  if (size.bound <= 0) return "-";
  return fmt::format("{:.4f}", 100 * static_cast<double>(size.bound - value) / static_cast<double>(size.bound));
}

std::string search_text(const std::vector<SearchSize>& sizes, bool quick) {
  report::Row head{"GPUS", "JOBS", "SIDE", "BUDGET"};
  for (const TimeUs at : kInstants) head.push_back(budget_text(at));
  for (const char* title : {"END", "GENERATIONS", "IN ALL"}) head.emplace_back(title);
  std::vector<report::Row> rows;
  for (const SearchSize& size : sizes) {
    const std::string gpus = std::to_string(size.gpus), jobs = std::to_string(size.jobs);
    report::Row price{gpus, jobs, "price", "-"};
    for (const TimeUs at : kInstants) price.push_back(seconds_of(at) >= size.price_placed_s ? below_bound(size, size.price_value) : "-");
    price.insert(price.end(), {below_bound(size, size.price_value), "-", time_text(size.price_s)});
    rows.push_back(std::move(price));
    for (const SearchRun& run : size.runs) {
      report::Row row{gpus, jobs, run.side, budget_text(run.budget_us)};
      for (const TimeUs at : kInstants) {
        std::int64_t score = 0;
        const bool over = at > run.budget_us && seconds_of(at) > run.found.searched_s;
        row.push_back(over ? "" : score_at(run, seconds_of(at), score) ? below_bound(size, score) : "-");
      }
      row.insert(row.end(), {below_bound(size, run.found.value), std::to_string(run.found.generations), time_text(run.found.seconds)});
      rows.push_back(std::move(row));
    }
  }
  return fmt::format(
      "\nCoupled search: ones-plus, objective flow_time, terms migration, restart, span; NVL72 domains, elastic jobs\n"
      "% below the bound of all shapes, which ignores places, by the time since the call; - is nothing yet{}\n{}",
      quick ? "" : "; the middle one of 3 runs", report::table(head, rows));
}

std::string passes_text(const std::vector<PassesSize>& sizes) {
  std::vector<report::Row> rows;
  for (const PassesSize& size : sizes) {
    for (const PassesRun& run : size.runs) {
      const auto least_most = std::minmax_element(run.seconds.begin(), run.seconds.end());
      rows.push_back({std::to_string(size.scenarios), std::to_string(size.jobs), std::to_string(size.nodes), run.side,
                      fmt::format("{:.0f}", size.scenarios / run.median_s), time_text(run.median_s), time_text(*least_most.first),
                      time_text(*least_most.second)});
    }
  }
  return "\nMany scenarios: what-if scheduling passes over one state, all at once\n" +
         report::table({"SCENARIOS", "JOBS", "NODES", "SIDE", "A SECOND", "MEDIAN", "LEAST", "MOST"}, rows);
}

std::string decisions_text(const std::vector<DecisionsSize>& sizes) {
  std::vector<report::Row> rows;
  for (const DecisionsSize& size : sizes) {
    for (const DecisionsRun& run : size.runs) {
      rows.push_back({size.policy, std::to_string(size.jobs), std::to_string(size.nodes), run.side, std::to_string(run.decisions),
                      fmt::format("{:.0f}", 1e6 * run.p50_s), fmt::format("{:.0f}", 1e6 * run.p99_s),
                      fmt::format("{:.0f}", run.decisions / run.sum_s)});
    }
  }
  return "\nSingle decisions: after 4 jobs have ended and 4 have arrived, from the changes to the validated plan\n" +
         report::table({"POLICY", "JOBS", "NODES", "SIDE", "DECISIONS", "P50 us", "P99 us", "A SECOND"}, rows);
}

std::string replays_text(const std::vector<ReplaysSize>& sizes) {
  std::vector<report::Row> rows;
  for (const ReplaysSize& size : sizes) {
    for (const ReplaysRun& run : size.runs) {
      rows.push_back({size.policy, std::to_string(size.replays), std::to_string(size.jobs), std::to_string(size.nodes), run.side,
                      time_text(run.median_s), fmt::format("{:.0f}", static_cast<double>(size.replays) * size.jobs / run.median_s),
                      fmt::format("{:.0f}", run.mean_jct_s)});
    }
  }
  return "\nMany replays: a policy with parameters or estimates that differ, on one trace, all at once\n" +
         report::table({"POLICY", "REPLAYS", "JOBS", "NODES", "SIDE", "MEDIAN", "JOBS A SECOND", "MEAN JCT s"}, rows);
}

std::string value_text(double value) {
  if (std::isnan(value)) return "-";
  return std::abs(value) < 100 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
}
std::string ratio_text(double of, double to) { return std::isnan(of) || std::isnan(to) || to <= 0 ? "-" : fmt::format("{:.2f}", of / to); }

// The side ahead. Outcomes are equal or not, and times that differ by less than one part in twenty are equal.
std::string ahead_text(const BenchComparison& row, const std::string& one, const std::string& all) {
  const double sign = row.less_is_better ? -1 : 1;
  const std::pair<double, std::string> sides[] = {{row.cpu_one, one}, {row.cpu_all, all}, {row.gpu, "cuda"}};
  const std::pair<double, std::string>* best = nullptr;
  double least = INFINITY, most = -INFINITY;
  int n = 0;
  for (const auto& side : sides) {
    if (std::isnan(side.first)) continue;
    ++n;
    least = std::min(least, side.first);
    most = std::max(most, side.first);
    if (best == nullptr || sign * side.first > sign * best->first) best = &side;
  }
  if (n < 2) return "-";
  const bool outcome = row.unit.find("/s") == std::string::npos;
  return most - least <= (outcome ? 0 : 0.05 * most) ? "equal" : best->second;
}

std::string comparison_text(const BenchReport& report) {
  std::string one = "1 thread", all = "all threads";
  bool gpu = false;
  for (const BenchSide& side : report.sides) {
    if (side.backend == Backend::kCuda) gpu = true;
    if (side.backend == Backend::kCpu) (side.threads == 1 ? one : all) = side.name;
  }
  std::vector<report::Row> rows;
  for (const BenchComparison& row : compare_sides(report)) {
    const std::string ratio =
        gpu ? ratio_text(row.gpu, std::isnan(row.cpu_all) ? row.cpu_one : row.cpu_all) : ratio_text(row.cpu_all, row.cpu_one);
    rows.push_back(
        {row.operation, row.unit, value_text(row.cpu_one), value_text(row.cpu_all), value_text(row.gpu), ratio, ahead_text(row, one, all)});
  }
  return "\nSide by side: each operation's speed, and its outcome below it\n" +
         report::table({"OPERATION", "UNIT", one, all, "cuda", gpu ? "GPU/CPU" : "ALL/1", "AHEAD"}, rows);
}

}  // namespace

std::string bench_text(const BenchReport& report) {
  std::string text = fmt::format("berth bench --suite headline{}, seed {}\n", report.quick ? " --quick" : "", report.seed);
  text += machine_text(report);
  if (!report.search.empty() || !report.passes.empty()) text += comparison_text(report);
  if (!report.search.empty()) text += search_text(report.search, report.quick);
  if (!report.passes.empty()) text += passes_text(report.passes);
  if (!report.decisions.empty()) text += decisions_text(report.decisions);
  if (!report.replays.empty()) text += replays_text(report.replays);
  text += "\nLosing sizes\n";
  const std::vector<std::string> lost = losing(report);
  for (const std::string& one : lost) text += fmt::format("- {}\n", one);
  if (lost.empty()) text += "none that was measured\n";
  return text + fmt::format("\n{:.0f} s in all{}\n", report.seconds, report.complete ? "" : "; interrupted: what was measured until then");
}

}  // namespace berth::cli
