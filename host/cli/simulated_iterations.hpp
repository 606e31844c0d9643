#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "host/sim/all_reduces.hpp"

namespace berth::cli {

/// How closely jobs are followed, as the command line says it.
struct IterationOptions {
  std::string fidelity = "rate";
  std::int32_t gpu_jobs = 1;
  std::vector<std::string> network;  ///< NAME=NUMBER

  bool wanted() const { return fidelity == "iteration"; }
  /// @throws InvalidArgument naming option and value; where they are given without `wanted`, too.
  sim::NetworkCost network_cost() const;
};

void add_iteration_options(CLI::App& app, IterationOptions& options);

}  // namespace berth::cli
