#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/sim/base/outcome.hpp"
#include "host/sim/counts/resumed_jobs.hpp"
#include "host/sim/replay/settings.hpp"

namespace berth::sim {

/// The simulation of `simulate` for cases where only counts of free GPUs decide which jobs run. These cases are:
/// - queue policies with discipline `strict`, `greedy` or `easy`, any packing but `consolidate`;
/// - those that displace no jobs with discipline `conservative` and the same packings;
/// - jobs of one flat shape; virtual clusters and GPU types that share no nodes.
/// It has the same policies, order of events, outcomes and GPUs. It is fast because it makes no plan.
/// A displaced job that fits again in the same decision counts as moved.
///
/// @returns nothing when something else matters too: `simulate` then runs instead. This is decided before the first call of `done`.
/// @param resumed  null: no job runs at the start
std::optional<SimulationTotals> simulate_counts(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
                                                const std::function<void(const JobOutcome&)>& done, ResumedJobs* resumed = nullptr);

/// Repeats such simulations on one cluster, which is read once.
class CountSimulations {
 public:
  CountSimulations();
  ~CountSimulations();
  CountSimulations(CountSimulations&&) noexcept;
  CountSimulations& operator=(CountSimulations&&) noexcept;

  /// @returns false when something else than counts matters; docs as `simulate_counts`
  bool begin(const TraceFacts& facts, const Snapshot& cluster, const SimulationSettings& settings);
  /// After `begin`. @param settings  those of `begin`, but for the seed
  SimulationTotals run(const Replayed& trace, const SimulationSettings& settings, const std::function<void(const JobOutcome&)>& done,
                       ResumedJobs* resumed);

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace berth::sim
