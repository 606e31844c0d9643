#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "berth/plan.hpp"
#include "berth/state.hpp"
#include "host/cli/base/command.hpp"
#include "host/cli/base/places.hpp"
#include "host/io/formats/plan_promises.hpp"

namespace berth::cli {

/// Source of the cluster and its jobs: a snapshot, or the output of Slurm's commands.
struct StateInput {
  std::string snapshot;
  std::vector<std::string> slurm;
  bool held = false;  ///< also plan jobs that Slurm holds
};
void add_state_options(CLI::App& app, StateInput& input);

/// The files of an input, and `more`, for check_places.
std::vector<Place> places_of(const StateInput& input, std::vector<Place> more = {});

/// Its name in messages: the file, or the first one.
std::string input_name(const StateInput& input);

struct LoadedState {
  ClusterState state;
  double load_s = 0;                            ///< reading, parsing and checking
  std::map<std::string, std::string> left_out;  ///< jobs that an import from Slurm omitted, and why
};

/// Assumptions and omissions of an import from Slurm go to standard error.
/// @throws InvalidArgument unless there is either a snapshot or output of Slurm; EnvironmentError or InputError naming
/// the file.
LoadedState load_state(const StateInput& input);

/// A plan of that state.
Plan load_plan(const std::string& path, const ClusterState& state);
/// The same, with what the plan promises.
Plan load_plan(const std::string& path, const ClusterState& state, io::Promises& promises);

/// "4 nodes, 16 GPUs, 7 jobs (2 running, 5 waiting)".
std::string summary(const Snapshot& snapshot);
std::string summary(const ClusterState& state);

}  // namespace berth::cli
