#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/sim/measures/deadlines.hpp"
#include "host/sim/measures/fairness.hpp"
#include "host/sim/measures/groups.hpp"
#include "host/sim/measures/queues.hpp"
#include "host/sim/measures/series.hpp"

namespace berth::sim {

/// Optional measures of a run.
struct MeasuresRequest {
  std::array<bool, kGroupings> groups{};
  bool series = false, jobs = false;
  bool queues = false;  ///< of the cluster; `SimulationSettings::queues` receives them
  bool stays = false;   ///< `SimulationSettings::stays` receives them
  TimeUs every_us = 0;  ///< see Series
};

struct JobRow {
  JobOutcome outcome;
  std::int64_t rho_ppm = 0;  ///< see FairnessOf; 0: did not complete
};

/// Results besides SimulationFigures; those not requested are empty.
struct Measures {
  Fairness fairness;
  Deadlines deadlines;
  std::array<std::vector<GroupFigures>, kGroupings> groups;
  std::vector<Sample> series;
  std::vector<JobRow> jobs;  ///< in the order in which `simulate` reported them
  std::vector<QueueFigures> queues;
};

class MeasuresOf {
 public:
  /// @param gpus  GPUs of the cluster.
  MeasuresOf(const TraceFacts& facts, std::int64_t gpus, const MeasuresRequest& wanted);

  /// For SimulationSettings; null: not requested.
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
