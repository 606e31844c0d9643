#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "host/cli/sweep/shared_cache.hpp"
#include "host/cli/sweep/sweep_plan.hpp"

namespace berth::cli {

/// What happens in a run, whatever the policy: common random numbers come from sharing it.
struct SweepWorld {
  std::shared_ptr<const SimulatedJobs> jobs;
  Snapshot cluster;
  sim::SimulationSettings settings;  ///< costs, events and failures
  TimeUs first_submit_us = 0;
};

/// Inputs of runs, read once and shared by the threads.
class SweepInputs {
 public:
  explicit SweepInputs(int threads);

  /// @throws InvalidArgument, InputError, EnvironmentError.
  std::shared_ptr<const SweepWorld> world(const SweepCell& cell, std::int64_t seed);
  /// Assumptions about inputs so far, each once.
  std::set<std::string> notes();

 private:
  std::shared_ptr<const SweepWorld> make(const SweepCell& cell, std::int64_t seed);
  std::shared_ptr<const SimulatedJobs> read(const JobOptions& options);
  void note(const std::string& text);

  SharedCache<SimulatedJobs> traces_;
  SharedCache<SweepWorld> worlds_;
  std::mutex mutex_;
  std::set<std::string> notes_;
};

}  // namespace berth::cli
