#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"

namespace berth::sim {

/// A decider throws it where SimulationSettings::interrupted ends a decision. The simulation ends there and keeps what is done.
class DecisionStopped : public Error {
 public:
  using Error::Error;
};

/// A waiting job that an external policy will never run.
struct Rejected {
  std::int32_t job = -1;  ///< index of the job
  std::string why;
};

/// Decides instead of the engine. It fills in a valid plan of the state and the rejected jobs.
/// Those wait in the plan and leave the simulation.
using Decider = std::function<void(const ClusterState& state, Plan& plan, std::vector<Rejected>& away)>;

}  // namespace berth::sim
