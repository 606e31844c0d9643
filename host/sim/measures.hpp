#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/sim/deadlines.hpp"
#include "host/sim/fairness.hpp"
#include "host/sim/groups.hpp"
#include "host/sim/series.hpp"

namespace berth::sim {

/// What a run is measured for beside what is always known.
struct Wanted {
  std::array<bool, kGroupings> groups{};
  bool series = false, jobs = false;
  TimeUs every_us = 0;  ///< see Series
};

struct JobRow {
  JobOutcome outcome;
  std::int64_t rho_ppm = 0;  ///< see FairnessOf; 0: did not complete
};

/// What came out, beside SimulationFigures; empty what was not wanted.
struct Measures {
  Fairness fairness;
  Deadlines deadlines;
  std::array<std::vector<GroupFigures>, kGroupings> groups;
  std::vector<Sample> series;
  std::vector<JobRow> jobs;  ///< in the order in which `simulate` told of them
};

class MeasuresOf {
 public:
  /// @param gpus  That the cluster has.
  MeasuresOf(const TraceFacts& facts, std::int64_t gpus, const Wanted& wanted);

  /// For SimulationSettings; null: not wanted.
  Series* series() { return series_ ? &*series_ : nullptr; }
  void add(const JobOutcome& job);
  Measures finish(const SimulationTotals& totals);

 private:
  bool keep_jobs_;
  FairnessOf fairness_;
  DeadlinesOf deadlines_;
  std::array<std::optional<GroupsOf>, kGroupings> groups_;
  std::optional<Series> series_;
  std::vector<JobRow> jobs_;
};

}  // namespace berth::sim
