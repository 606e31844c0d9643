#include "host/cli/capacity/capacity_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "berth/cluster.hpp"
#include "berth/error.hpp"
#include "host/cli/base/progress.hpp"
#include "host/core/base/violations.hpp"

namespace berth::cli {
namespace {

constexpr std::int64_t kManySeeds = 4;  // fill the threads already with one size at a time

std::size_t utilisation_metric() { return results::sweep_metric("gpu_utilisation").value(); }

TriedMix judged(const CapacityTask& task, const NodeMix& mix, SeedFigures figures) {
  TriedMix tried;
  tried.figures = std::move(figures);
  for (const auto& [seed, one] : tried.figures) {
    const auto fails = [&one = one](const CapacityTarget& target) { return !target.holds(one[target.metric]); };
    if (std::none_of(task.targets.begin(), task.targets.end(), fails)) ++tried.seeds_hold;
  }
  const auto seeds = static_cast<std::int64_t>(tried.figures.size());
  if (task.confidence_ppm > 0) {
    tried.holds = static_cast<__int128>(tried.seeds_hold) * 1'000'000 >= static_cast<__int128>(seeds) * task.confidence_ppm;
  } else {
    tried.holds = std::all_of(task.targets.begin(), task.targets.end(),
                              [&](const CapacityTarget& target) { return target.holds_on_mean(tried.values(target.metric)); });
  }
  tried.utilisation = tried.interval(utilisation_metric()).mean / 1e6;
  tried.cost = cost_of(task.costs, task.nodes_of(mix), tried.utilisation);
  return tried;
}

// Nodes of a kind, besides those that are there, with that many GPUs.
std::int64_t nodes_for(const NodeKind& kind, double gpus) {
  return static_cast<std::int64_t>(std::ceil(std::clamp(gpus / static_cast<double>(kind.gpus), 0.0, static_cast<double>(kMaxNodes))));
}

SizeRange range_of(const CapacityTask& task, const NodeKind& kind, const GpuDemand& demand) {
  std::int64_t there = 0;
  for (const NodeCount& one : task.fixed) there += one.nodes;
  const std::int64_t most = kMaxNodes - there, least = task.fixed.empty() ? 1 : 0;
  const auto fixed = static_cast<double>(gpus_of(task.fixed));
  SizeRange range;
  range.from = task.from.value_or(least);
  // With GPUs for all jobs at once a cluster has some room to spare for jobs that find no place on one node.
  constexpr std::int64_t kSpare = 8;
  const std::int64_t for_all = 2 * nodes_for(kind, static_cast<double>(demand.peak)) + kSpare;
  range.to = std::min(most, task.to.value_or(std::max(for_all, range.from)));
  if (range.from > range.to)
    throw InvalidArgument(
        fmt::format("--from: {} nodes are more than the {} at most (--to, or {} in all)", range.from, range.to, kMaxNodes));
  const double wanted = std::max(demand.mean, static_cast<double>(demand.largest)) - fixed;
  range.start = std::clamp(nodes_for(kind, wanted), range.from, range.to);
  range.at_once = static_cast<std::int64_t>(task.seeds.size()) < kManySeeds ? 3 : 1;
  return range;
}

bool any_job_counts(const TriedMix& tried) {
  constexpr std::string_view kEnds[] = {"completed", "rejected", "unfinished", "killed"};
  return std::any_of(std::begin(kEnds), std::end(kEnds), [&](std::string_view end) {
    const std::vector<std::int64_t> values = tried.values(results::sweep_metric(end).value());
    return std::any_of(values.begin(), values.end(), [](std::int64_t value) { return value > 0; });
  });
}

}  // namespace

std::vector<NodeCount> CapacityTask::nodes_of(const NodeMix& mix) const {
  std::vector<NodeCount> nodes = fixed;
  for (std::size_t k = 0; k < mix.size(); ++k) nodes.push_back({kinds[k], mix[k]});
  return nodes;
}

RunTexts CapacityTask::texts_of(const NodeMix& mix) const {
  RunTexts all = texts;
  all["cluster"] = cluster_text(nodes_of(mix));
  return all;
}

std::vector<std::int64_t> TriedMix::values(std::size_t metric) const {
  std::vector<std::int64_t> all;
  for (const auto& [seed, one] : figures) all.push_back(one[metric]);
  return all;
}

void add_meant_targets(std::vector<CapacityTarget>& targets) {
  for (const char* metric : {"rejected", "unfinished"}) {
    const std::size_t m = results::sweep_metric(metric).value();
    const bool given = std::any_of(targets.begin(), targets.end(), [&](const CapacityTarget& target) { return target.metric == m; });
    if (!given) targets.push_back(parse_target(fmt::format("{}<=0", metric)));
  }
}

std::optional<CapacityResult> find_capacity(const CapacityTask& task, SearchRuns& runs) {
  CapacityResult result;
  NodeMix first(task.kinds.size(), 0);
  first[0] = 1;
  result.demand = demand_of(*runs.world(task.texts_of(first), task.seeds.front())->jobs->all());
  if (result.demand.jobs == 0) throw InvalidArgument("--trace: there are no jobs, so that any cluster is enough");
  std::vector<SizeRange> alone;
  for (const NodeKind& kind : task.kinds) alone.push_back(range_of(task, kind, result.demand));
  const bool costs = task.costs.priced();
  const auto gpus = [&](const NodeMix& mix) { return static_cast<double>(gpus_of(task.nodes_of(mix))); };
  const auto cost = [&](const NodeMix& mix) { return costs ? result.tried.at(mix).cost.per_hour : gpus(mix); };
  const auto least = [&](const NodeMix& mix) { return costs ? cost_of(task.costs, task.nodes_of(mix), 0).per_hour : gpus(mix); };
  MixSearch search(alone, task.mixes, cost, least);
  std::map<NodeMix, bool> holds;
  ProgressLine line;
  for (std::vector<NodeMix> mixes = search.next(holds); !mixes.empty(); mixes = search.next(holds)) {
    std::vector<SearchCell> cells;
    for (const NodeMix& mix : mixes) {
      SearchCell& cell = cells.emplace_back();
      cell.texts = task.texts_of(mix);
    }
    const std::string what = cells.size() == 1 ? cells.front().texts["cluster"] : fmt::format("{} clusters", cells.size());
    std::optional<SearchBatch> batch = runs.make(cells, task.seeds, [&](std::int64_t done, std::int64_t all) {
      line.show(static_cast<int>(100 * done / std::max<std::int64_t>(1, all)), fmt::format("{} of {} runs on {}", done, all, what));
    });
    line.clear();
    if (!batch) return std::nullopt;
    if (!batch->problems.empty()) {
      const auto& [problem, failed] = *batch->problems.begin();
      throw InvalidArgument(fmt::format("{} failed on {}: {}", core::counted(failed, "run"), what, problem));
    }
    for (std::size_t m = 0; m < mixes.size(); ++m) {
      TriedMix tried = judged(task, mixes[m], std::move(batch->figures[m]));
      if (!any_job_counts(tried)) throw InvalidArgument("--warm-up: no job is left that counts, so that any cluster is enough");
      holds[mixes[m]] = tried.holds;
      result.tried.emplace(mixes[m], std::move(tried));
    }
  }
  result.lines = search.lines();
  result.answers = search.answers();
  result.cheapest = search.cheapest();
  return result;
}

}  // namespace berth::cli
