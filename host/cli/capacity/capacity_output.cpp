#include "host/cli/capacity/capacity_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "host/cli/capacity/capacity_json.hpp"
#include "host/cli/sweep/metric_text.hpp"
#include "host/core/base/violations.hpp"
#include "host/report/table.hpp"

namespace berth::cli {
namespace {

std::string cluster_of(const CapacityTask& task, const NodeMix& mix) { return cluster_text(task.nodes_of(mix)); }

// A figure of one run needs fewer digits than a mean: whole seconds and counts.
std::string figure_text(const TriedMix& tried, std::size_t metric) {
  const SweepInterval interval = tried.interval(metric);
  const double value = interval.mean / metric_scale(metric);
  constexpr double kLarge = 100;
  const bool whole =
      results::kSweepMetricTable[metric].unit != results::SweepMetric::kMillionths && (value == std::round(value) || value >= kLarge);
  return interval.values == 1 && whole ? fmt::format("{:.0f}", value) : interval_text(interval, metric_scale(metric));
}

// Metrics of the targets; of those that are meant in any case only where they fail somewhere.
std::vector<std::size_t> shown_metrics(const CapacityTask& task, const CapacityResult& result) {
  std::vector<std::size_t> metrics;
  for (const CapacityTarget& target : task.targets) {
    const auto fails = [&](const auto& tried) { return !target.holds_on_mean(tried.second.values(target.metric)); };
    const bool counts = results::kSweepMetricTable[target.metric].unit == results::SweepMetric::kCount && target.value == 0;
    if (counts && std::none_of(result.tried.begin(), result.tried.end(), fails)) continue;
    if (std::find(metrics.begin(), metrics.end(), target.metric) == metrics.end()) metrics.push_back(target.metric);
  }
  return metrics;
}

// Clusters with one kind first, each by size.
std::vector<NodeMix> by_kind(const CapacityResult& result) {
  std::vector<NodeMix> mixes;
  for (const auto& [mix, tried] : result.tried) mixes.push_back(mix);
  const auto group = [](const NodeMix& mix) {
    const auto some = std::count_if(mix.begin(), mix.end(), [](std::int64_t nodes) { return nodes > 0; });
    const auto first = std::find_if(mix.begin(), mix.end(), [](std::int64_t nodes) { return nodes > 0; });
    return some > 1 ? static_cast<std::ptrdiff_t>(mix.size()) : first - mix.begin();
  };
  std::stable_sort(mixes.begin(), mixes.end(), [&](const NodeMix& a, const NodeMix& b) { return group(a) < group(b); });
  return mixes;
}

constexpr std::size_t kEnough = 2;  // its column

report::Row head_row(const CapacityTask& task, const std::vector<std::size_t>& metrics) {
  report::Row head{"CLUSTER", "GPUS", "ENOUGH"};
  for (const std::size_t metric : metrics) head.push_back(metric_head(metric));
  head.emplace_back("GPUS USED");
  if (task.costs.priced()) head.insert(head.end(), {"COST/HOUR", "COST/MONTH"});
  if (task.costs.powered()) head.emplace_back("KW");
  if (task.seeds.size() > 1) head.emplace_back("SEEDS");
  return head;
}

report::Row row_of(const CapacityTask& task, const std::vector<std::size_t>& metrics, const NodeMix& mix, const TriedMix& tried) {
  report::Row row{cluster_of(task, mix), fmt::format("{}", gpus_of(task.nodes_of(mix))), tried.holds ? "yes" : "no"};
  for (const std::size_t metric : metrics) row.push_back(figure_text(tried, metric));
  row.push_back(fmt::format("{:.1f} %", 100 * tried.utilisation));
  if (task.costs.priced()) {
    row.push_back(fmt::format("{:.2f}", tried.cost.per_hour));
    row.push_back(fmt::format("{:.0f}", tried.cost.per_hour * kHoursPerMonth));
  }
  if (task.costs.powered()) row.push_back(fmt::format("{:.1f}", tried.cost.power_w / 1000));
  if (task.seeds.size() > 1) row.push_back(fmt::format("{} of {}", tried.seeds_hold, tried.figures.size()));
  return row;
}

std::string targets_text(const CapacityTask& task) {
  std::string text;
  for (const CapacityTarget& target : task.targets) {
    if (target.text == "rejected<=0" || target.text == "unfinished<=0") continue;  // meant in any case
    text += fmt::format("{}{}", text.empty() ? "" : " and ", target.text);
  }
  return text.empty() ? "all jobs" : text;
}

// "p90_queue 2104 +- 300 s".
std::string figures_text(const CapacityTask& task, const TriedMix& tried, bool all) {
  std::string text;
  std::vector<std::size_t> metrics;
  for (const CapacityTarget& target : task.targets) {
    const bool fails = !target.holds_on_mean(tried.values(target.metric));
    const bool counts = results::kSweepMetricTable[target.metric].unit == results::SweepMetric::kCount && target.value == 0;
    if ((counts || !all) && !fails) continue;
    if (std::find(metrics.begin(), metrics.end(), target.metric) != metrics.end()) continue;
    metrics.push_back(target.metric);
    const bool time = results::kSweepMetricTable[target.metric].unit == results::SweepMetric::kMicroseconds;
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", results::kSweepMetricTable[target.metric].name,
                        figure_text(tried, target.metric), time ? " s" : "");
  }
  if (task.confidence_ppm > 0)
    text += fmt::format("{}{} of {} seeds hold", text.empty() ? "" : ", ", tried.seeds_hold, tried.figures.size());
  return text;
}

std::string costs_text(const CapacityTask& task, const TriedMix& tried) {
  std::string text;
  if (task.costs.priced())
    text += fmt::format("; {:.2f} an hour, {:.0f} a month", tried.cost.per_hour, tried.cost.per_hour * kHoursPerMonth);
  if (task.costs.powered()) text += fmt::format("; {:.1f} kW", tried.cost.power_w / 1000);
  return text;
}

std::string found_text(const CapacityTask& task, const CapacityResult& result, const MixSearch::Line& line) {
  const NodeMix mix = line.mix(*line.answer);
  const TriedMix& tried = result.tried.at(mix);
  std::string text = fmt::format("{} ({}) is enough for {}{}.\n", cluster_of(task, mix), core::counted(gpus_of(task.nodes_of(mix)), "GPU"),
                                 targets_text(task), costs_text(task, tried));
  text += fmt::format("  {}, {:.1f} % of GPUs used", figures_text(task, tried, true), 100 * tried.utilisation);
  const auto less = *line.answer > 0 ? result.tried.find(line.mix(*line.answer - 1)) : result.tried.end();
  if (less != result.tried.end())
    text += fmt::format("; {} is not enough: {}", cluster_of(task, less->first), figures_text(task, less->second, false));
  text += ".\n";
  const std::int64_t gpus = gpus_of(task.nodes_of(mix));
  if (result.demand.mean > static_cast<double>(gpus))
    text += fmt::format(
        "  Jobs ask for {:.0f} GPUs on average, so that its backlog grows as long as they come: add a target such as "
        "p99_wait or makespan.\n",
        result.demand.mean);
  return text;
}

// What the best of the clusters reached; where GPUs are bought, that is seldom another one than the largest.
std::string unreached_text(const CapacityTask& task, const CapacityResult& result, const MixSearch::Line& line) {
  const NodeMix mix = line.mix(line.range.to);
  const TriedMix& largest = result.tried.at(mix);
  std::string text =
      fmt::format("{} is not enough for {}: {}.\n", cluster_of(task, mix), targets_text(task), figures_text(task, largest, false));
  for (const CapacityTarget& target : task.targets) {
    const bool counts = results::kSweepMetricTable[target.metric].unit == results::SweepMetric::kCount;
    if (counts || target.holds_on_mean(largest.values(target.metric))) continue;
    const auto mean = [&](std::int64_t size) { return result.tried.at(line.mix(size)).interval(target.metric).mean; };
    std::int64_t best = line.range.to;
    for (const auto& [other, tried] : result.tried) {
      const std::int64_t size = other[line.kind];
      if (other != line.mix(size)) continue;
      if (target.smaller_is_better() ? mean(size) < mean(best) : mean(size) > mean(best)) best = size;
    }
    const TriedMix& tried = result.tried.at(line.mix(best));
    const bool time = results::kSweepMetricTable[target.metric].unit == results::SweepMetric::kMicroseconds;
    text += fmt::format("  The best {} that was reached is {}{}, with {}.\n", results::kSweepMetricTable[target.metric].name,
                        figure_text(tried, target.metric), time ? " s" : "", cluster_of(task, line.mix(best)));
  }
  const std::int64_t gpus = gpus_of(task.nodes_of(mix));
  if (result.demand.largest > gpus) {
    text += fmt::format("  The largest job asks for {} GPUs, and this cluster has {}: raise --to, or allow it by --target 'rejected<=N'.\n",
                        result.demand.largest, gpus);
  } else if (largest.interval(results::sweep_metric("rejected").value()).mean > 0) {
    text += fmt::format("  Its size is not why jobs are rejected: 'berth simulate --cluster {}' says why.\n", cluster_of(task, mix));
  } else if (task.to) {
    text += "  More nodes may be enough: raise --to.\n";
  } else {
    text += "  It has twice the GPUs of all jobs at once, so that more of them hardly help; --to N tries more.\n";
  }
  return text;
}

std::string order_text(const CapacityTask& task, const CapacityResult& result, const MixSearch::Line& line) {
  std::map<NodeMix, bool> holds;
  for (const auto& [mix, tried] : result.tried) holds.emplace(mix, tried.holds);
  const auto worse = worse_with_more(MixSearch::sizes_of(line, holds));
  if (!worse) return "";
  return fmt::format("  More nodes are not always better here: {} is enough, and {} is not.\n", cluster_of(task, line.mix(worse->first)),
                     cluster_of(task, line.mix(worse->second)));
}

CapacitySizeRow size_row(const CapacityTask& task, const NodeMix& mix, const TriedMix& tried) {
  CapacitySizeRow row;
  row.cluster = cluster_of(task, mix);
  row.bought = mix;
  row.gpus = gpus_of(task.nodes_of(mix));
  std::set<std::size_t> metrics;
  for (const CapacityTarget& target : task.targets) {
    if (metrics.insert(target.metric).second) row.metrics.push_back(shown_metric(target.metric, tried.interval(target.metric)));
  }
  row.utilisation = tried.utilisation;
  row.seeds_enough = tried.seeds_hold;
  if (task.costs.priced()) {
    row.cost_per_hour = tried.cost.per_hour;
    row.cost_per_month = tried.cost.per_hour * kHoursPerMonth;
  }
  if (task.costs.powered()) row.power_w = tried.cost.power_w;
  row.enough = tried.holds;
  return row;
}

}  // namespace

std::string capacity_text(const CapacityTask& task, const CapacityResult& result) {
  std::string text;
  const bool several = result.answers.size() > 1;
  if (result.cheapest && several) {
    const TriedMix& tried = result.tried.at(*result.cheapest);
    text += fmt::format("{}: {} ({}){}.\n", task.costs.priced() ? "The cheapest that was tried" : "The fewest GPUs that were tried",
                        cluster_of(task, *result.cheapest), core::counted(gpus_of(task.nodes_of(*result.cheapest)), "GPU"),
                        costs_text(task, tried));
  }
  for (const MixSearch::Line& line : result.lines) {
    const bool alone = std::all_of(line.others.begin(), line.others.end(), [](std::int64_t nodes) { return nodes == 0; });
    if (!alone) continue;  // mixes are in the table
    text += line.answer ? found_text(task, result, line) : unreached_text(task, result, line);
    text += order_text(task, result, line);
  }
  const std::vector<std::size_t> metrics = shown_metrics(task, result);
  if (several) {
    std::vector<report::Row> rows;
    std::vector<NodeMix> answers = result.answers;
    std::sort(answers.begin(), answers.end());
    answers.erase(std::unique(answers.begin(), answers.end()), answers.end());
    for (const NodeMix& mix : answers) {
      rows.push_back(row_of(task, metrics, mix, result.tried.at(mix)));
      if (mix == *result.cheapest) rows.back()[kEnough] = "best";
    }
    text += "\nThe smallest that are enough\n\n" + report::table(head_row(task, metrics), rows);
  }
  std::vector<report::Row> rows;
  for (const NodeMix& mix : by_kind(result)) rows.push_back(row_of(task, metrics, mix, result.tried.at(mix)));
  return text + "\nAll that were tried\n\n" + report::table(head_row(task, metrics), rows);
}

std::string capacity_json(const CapacityTask& task, const CapacityResult& result) {
  CapacityDocument document;
  for (const CapacityTarget& target : task.targets) {
    CapacityTargetRow& row = document.targets.emplace_back();
    row.metric = metric_key(target.metric);
    row.compare = sign_of(target.compare);
    row.value = static_cast<double>(target.value) / metric_scale(target.metric);
  }
  for (const NodeKind& kind : task.kinds) document.kinds.push_back(kind.text());
  document.fixed = cluster_text(task.fixed);
  document.demand.mean_gpus = result.demand.mean;
  document.demand.peak_gpus = result.demand.peak;
  document.demand.largest_job_gpus = result.demand.largest;
  document.seeds = static_cast<std::int64_t>(task.seeds.size());
  if (task.confidence_ppm > 0) document.confidence = static_cast<double>(task.confidence_ppm) / 1e6;
  std::map<NodeMix, bool> holds;
  for (const auto& [mix, tried] : result.tried) holds.emplace(mix, tried.holds);
  for (const MixSearch::Line& line : result.lines) {
    CapacityAnswerRow& row = document.answers.emplace_back();
    row.kind = task.kinds[line.kind].text();
    row.others = line.others;
    if (line.answer) row.cluster = cluster_of(task, line.mix(*line.answer));
    row.monotone = !worse_with_more(MixSearch::sizes_of(line, holds));
  }
  if (result.cheapest) document.best = cluster_of(task, *result.cheapest);
  for (const NodeMix& mix : by_kind(result)) document.sizes.push_back(size_row(task, mix, result.tried.at(mix)));
  return capacity_document_json(document);
}

}  // namespace berth::cli
