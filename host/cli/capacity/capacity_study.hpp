#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/capacity/capacity_target.hpp"
#include "host/cli/capacity/demand.hpp"
#include "host/cli/capacity/mix_search.hpp"
#include "host/cli/capacity/node_mix.hpp"
#include "host/cli/search/search_runs.hpp"
#include "host/cli/sweep/sweep_intervals.hpp"

namespace berth::cli {

/// What `berth capacity` is to find, checked.
struct CapacityTask {
  RunTexts texts;  ///< of all runs, but for the cluster
  std::vector<CapacityTarget> targets;
  std::vector<NodeKind> kinds;   ///< that can be bought
  std::vector<NodeCount> fixed;  ///< that are there in any case
  CapacityCosts costs;
  std::vector<std::int64_t> seeds;
  std::int64_t confidence_ppm = 0;       ///< > 0: part of the seeds in which the targets must hold; else they must hold on the mean
  std::optional<std::int64_t> from, to;  ///< nodes of each kind alone
  bool mixes = true;

  std::vector<NodeCount> nodes_of(const NodeMix& mix) const;
  RunTexts texts_of(const NodeMix& mix) const;
};

/// A cluster that was tried.
struct TriedMix {
  SeedFigures figures;
  std::int64_t seeds_hold = 0;  ///< in which all targets hold
  bool holds = false;
  double utilisation = 0;
  MixCost cost;

  std::vector<std::int64_t> values(std::size_t metric) const;
  SweepInterval interval(std::size_t metric) const { return interval_of(values(metric)); }
};

struct CapacityResult {
  std::map<NodeMix, TriedMix> tried;
  std::vector<MixSearch::Line> lines;
  std::vector<NodeMix> answers;
  std::optional<NodeMix> cheapest;
  GpuDemand demand;
};

/// Adds the targets that are meant in any case: no job is rejected, and none is left over. A target of the same metric replaces each.
void add_meant_targets(std::vector<CapacityTarget>& targets);

/// Nothing after a signal. @throws InvalidArgument, InputError, EnvironmentError
std::optional<CapacityResult> find_capacity(const CapacityTask& task, SearchRuns& runs);

}  // namespace berth::cli
