#pragma once

#include <cstdint>
#include <string>

#include "berth/plan.hpp"
#include "berth/state.hpp"

namespace berth::cli {

struct LoadedState {
  ClusterState state;
  double load_s = 0;  ///< reading, parsing and checking
};

/// @throws EnvironmentError or InputError naming the file.
LoadedState load_state(const std::string& path);

/// A plan of that state.
Plan load_plan(const std::string& path, const ClusterState& state);

/// "4 nodes, 16 GPUs, 7 jobs (2 running, 5 waiting)".
std::string summary(const Snapshot& snapshot);
std::string summary(const ClusterState& state);

}  // namespace berth::cli
