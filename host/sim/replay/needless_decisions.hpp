#pragma once

#include "host/core/state/state_view.hpp"
#include "host/sim/replay/settings.hpp"

namespace berth::sim {

/// Decisions that would keep every job and what the policy keeps: docs/simulation-reference.md, "Needless decisions".
class NeedlessDecisions {
 public:
  /// @throws InvalidArgument for an unknown policy or parameter
  explicit NeedlessDecisions(const SimulationSettings& settings);

  /// Whether a decision is needless where no job waits, none has lost GPUs, and nodes are as in the last decision. O(what
  /// the policy keeps).
  bool where_none_waits(const StateView& state, const PolicyState& kept) const;

 private:
  bool orders_ = false;  // the policy orders jobs, and keeps nothing
  bool prices_ = false;  // prices choose shapes
};

}  // namespace berth::sim
