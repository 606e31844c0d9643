#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "berth/plan.hpp"
#include "berth/state.hpp"
#include "host/cli/command.hpp"
#include "host/cli/places.hpp"

namespace berth::cli {

/// Where the cluster and its jobs come from: a snapshot, or what Slurm's commands printed.
struct StateInput {
  std::string snapshot;
  std::vector<std::string> slurm;
  bool held = false;  ///< plan what Slurm holds, too
};
void add_state_options(CLI::App& app, StateInput& input);

/// The files of an input, and `more`, for check_places.
std::vector<Place> places_of(const StateInput& input, std::vector<Place> more = {});

/// What messages call it: the name of the file, or of the first one.
std::string input_name(const StateInput& input);

struct LoadedState {
  ClusterState state;
  double load_s = 0;                            ///< reading, parsing and checking
  std::map<std::string, std::string> left_out;  ///< jobs that an import from Slurm left out, and why
};

/// What an import from Slurm assumed or left out is told on standard error.
/// @throws InvalidArgument unless there is either a snapshot or output of Slurm; EnvironmentError or InputError naming the file.
LoadedState load_state(const StateInput& input);

/// A plan of that state.
Plan load_plan(const std::string& path, const ClusterState& state);

/// "4 nodes, 16 GPUs, 7 jobs (2 running, 5 waiting)".
std::string summary(const Snapshot& snapshot);
std::string summary(const ClusterState& state);

}  // namespace berth::cli
