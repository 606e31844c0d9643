#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/sim/base/job_source.hpp"
#include "host/sim/replay/settings.hpp"
#include "host/sim/replay/shared_gpus.hpp"
#include "host/sim/replay/shared_links.hpp"

namespace berth::sim {

/// What simulated jobs cost each other: on links, where the settings say so, and on GPUs that they share, where a profile states it.
class Slowdowns {
 public:
  Slowdowns(const ClusterState& state, const SimulationSettings& settings, const TraceProfiles& profiles);

  /// Whether jobs may change their speed while they run.
  bool any() const { return links_ || gpus_; }
  /// A job works from now on as it is placed in the state. @param timed  its work is time, of which links cost nothing
  void start(std::int32_t job, const Job& description, bool timed);
  void stop(std::int32_t job);
  /// Jobs that work, and whose speed has changed since the last call, each once; of jobs that came since, those that are slowed down.
  std::span<const std::int32_t> settle();
  bool is_slowed(std::int32_t job) const;
  /// A rate of the job alone by its profile, under its present speed; at least 1.
  std::int64_t slowed(std::int32_t job, std::int64_t rate) const;

 private:
  const ClusterState& state_;
  std::optional<SharedLinks> links_;
  std::optional<SharedGpus> gpus_;
  std::vector<std::int32_t> changed_;
};

}  // namespace berth::sim
