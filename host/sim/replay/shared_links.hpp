#pragma once

#include <cstdint>
#include <span>

#include "berth/job.hpp"
#include "host/core/network/links.hpp"
#include "host/core/network/shared_steps.hpp"
#include "host/core/network/traffic.hpp"

namespace berth::sim {

/// The speeds of simulated jobs that use the same links: `--fidelity shared_links`; or of each as if it were alone on them:
/// `--fidelity tiers` (docs/simulation-reference.md).
///
/// A job sends from the instant at which it gets its GPUs, until it gives them back or loses some.
class SharedLinks {
 public:
  /// The nodes and domains of the state do not change.
  /// @param apart  jobs do not slow each other down
  SharedLinks(const ClusterState& state, bool apart);

  /// A job sends from now on as it is placed in the state. Nothing where its steps or its traffic are not known.
  void start(std::int32_t job, const Job& description);
  void stop(std::int32_t job) { steps_.remove(job); }
  /// Jobs that are there, and whose speed has changed since the last call; of jobs that came since, those with another speed
  /// than alone by their profile.
  std::span<const std::int32_t> settle() { return steps_.settle(); }
  /// A rate of the job alone by its profile, under its present speed; at least 1.
  std::int64_t slowed(std::int32_t job, std::int64_t rate) const;
  std::int64_t speed_ppm(std::int32_t job) const { return steps_.speed_ppm(job); }

 private:
  const ClusterState& state_;
  core::NetworkLinks links_;
  core::Traffic traffic_;
  core::SharedSteps steps_;
};

}  // namespace berth::sim
