#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/cli/simulate/simulated_jobs.hpp"
#include "host/results/results_file.hpp"

/// One simulation, as `berth simulate` and `berth sweep` run it.
namespace berth::cli {

/// Options of every run that are neither of its jobs nor of its world.
struct RunOptions {
  std::string estimates = "oracle", progress = "epochs", round;
  bool elastic = false, events_too = false;

  /// @throws InvalidArgument naming the option.
  void put_into(sim::SimulationSettings& settings) const;
};

/// `--param` and `--placement`.
void add_param_options(CLI::App& app, std::vector<std::string>& params, std::string& placement);
/// `--estimates` and `--progress`.
void add_source_options(CLI::App& app, RunOptions& options);
/// `--round`, `--at-events` and `--elastic`.
void add_decision_options(CLI::App& app, RunOptions& options);

/// How a run is called in results.
struct RunNames {
  std::string policy, cluster;
};

struct RunWatch {
  std::function<void(std::int64_t ended)> show;         ///< called now and then with the number of jobs that ended; empty: never
  std::function<void(const sim::JobOutcome& job)> job;  ///< called for each job that ended; empty: never
  std::function<bool()> stop;                           ///< true: the run ends early; empty: never
};

/// A signal that the command remembers ends the run early, as `interrupted`.
results::Run simulate_run(sim::SimulationSettings settings, const RunNames& names, const SimulatedJobs& jobs, const Snapshot& cluster,
                          const sim::MeasuresRequest& want, const RunWatch& watch);

/// The same for a policy of the engine, or 'ada-srsf', which exists only in simulations of iterations.
results::Run simulate_policy(sim::SimulationSettings settings, const RunNames& names, const SimulatedJobs& jobs, const Snapshot& cluster,
                             const sim::MeasuresRequest& want, const RunWatch& watch);

}  // namespace berth::cli
