#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "host/sim/iterations/all_reduces.hpp"
#include "host/sim/replay/settings.hpp"

namespace berth::cli {

/// Options of the command line for simulations of iterations.
struct IterationOptions {
  std::string fidelity = "rate";
  std::int32_t gpu_jobs = 1;
  std::vector<std::string> network;  ///< NAME=VALUE

  bool wanted() const { return fidelity == "iteration"; }
  sim::LinkModel links() const;
  /// @throws InvalidArgument naming option and value; also where they are given without `wanted`.
  sim::NetworkCost network_cost() const;
  /// @throws InvalidArgument where the cluster states no bandwidth that the fidelity needs.
  void put_into(sim::SimulationSettings& settings, const Snapshot& cluster) const;
};

/// Checks before any run. `other_programs`: policies of --policy-exec run, too. @throws InvalidArgument.
void check_iterations(const IterationOptions& options, const std::string& estimates, const std::vector<Request>& requests,
                      bool other_programs);

void add_iteration_options(CLI::App& app, IterationOptions& options);

}  // namespace berth::cli
