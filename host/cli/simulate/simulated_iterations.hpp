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
};

void add_iteration_options(CLI::App& app, IterationOptions& options);

}  // namespace berth::cli
