#pragma once

#include <string>
#include <vector>

#include "berth/forecast.hpp"
#include "host/cli/base/command.hpp"
#include "host/cli/base/places.hpp"

namespace berth::cli {

/// Options for what futures are drawn from.
struct HistoryInput {
  std::vector<std::string> files;
  std::string format = "trace";
};
void add_history_options(CLI::App& app, HistoryInput& input);

/// The files, or else the finished jobs of the state. @throws as import_files
JobHistory load_history(const HistoryInput& input, const ClusterState& state);

/// For check_places.
std::vector<Place> places_of(const HistoryInput& input);

}  // namespace berth::cli
