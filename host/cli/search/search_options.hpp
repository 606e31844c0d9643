#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "host/cli/base/places.hpp"
#include "host/cli/simulate/simulated_iterations.hpp"
#include "host/cli/simulate/simulated_jobs.hpp"
#include "host/cli/simulate/simulated_run.hpp"
#include "host/cli/simulate/simulated_world.hpp"
#include "host/cli/sweep/sweep_keys.hpp"

/// Commands that search over simulations: `berth capacity` and `berth tune`.
namespace berth::cli {

/// Options of the runs of a search, and where these are stored.
struct SearchOptions {
  JobOptions jobs;
  std::string policy, placement;
  std::vector<std::string> params;
  RunOptions run;
  SimulatedWorld world;
  IterationOptions iterations;
  std::string warm_up;
  std::string out;
  int threads = 0;
  bool json = false;
};

void add_search_options(CLI::App& app, SearchOptions& options);

/// @throws InvalidArgument for a policy or a parameter that there is not. A sweep takes parameters as those of other policies.
void check_policy(const SearchOptions& options);

/// What the options say about a run, as keys of a sweep.
RunTexts texts_of(const SearchOptions& options);

/// @throws InvalidArgument where --out is no place for results, or names an input.
void check_search_places(const SearchOptions& options, const std::vector<Place>& more_inputs);

int threads_of(const SearchOptions& options);

/// "trace_format: ..." is "--trace-format: ..." on the command line.
std::string as_option(const std::string& problem);

}  // namespace berth::cli
