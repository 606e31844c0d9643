#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "host/cli/base/places.hpp"
#include "host/sim/simulation.hpp"

namespace berth::cli {

/// Costs of changes and failures in a simulation: --overheads, --events, --failures.
struct SimulatedWorld {
  std::string overheads = "none", events;
  std::vector<std::string> failures;

  /// Files that are read.
  std::vector<Place> inputs() const;
  /// @throws InvalidArgument for an unknown name or rate; InputError for a bad file.
  void put_into(sim::SimulationSettings& settings) const;
};

void add_world_options(CLI::App& app, SimulatedWorld& world);

/// "seren" or "kalos", or rates such as "node=720h", "gpu=5000h", "repair=4h", "crash=200h", "kill=1000h", added to `rates`.
/// @throws InvalidArgument naming the text.
void parse_failure_rate(std::string_view text, sim::FailureRates& rates);

}  // namespace berth::cli
