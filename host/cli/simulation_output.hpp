#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/command.hpp"
#include "host/cli/places.hpp"
#include "host/results/results_file.hpp"

/// Where `berth simulate` writes beside standard output.
namespace berth::cli {

struct OutputOptions {
  std::string series_out, series_every, out;
  std::string by;  ///< of sim::kGroupingNames, or empty
};

void add_output_options(CLI::App& app, OutputOptions& options);
std::vector<Place> places(const OutputOptions& options);
/// What runs have to be measured for. @throws InvalidArgument naming the option.
sim::Wanted wanted(const OutputOptions& options, bool jobs);
/// As RFC 4180 has it: what holds a comma, a quote or a line's end stands in quotes.
std::string csv_field(const std::string& text);
/// Of its name; nothing when it is empty.
std::optional<sim::GroupBy> group_by(const std::string& name);

/// Takes each run once it is over, so that what is done is kept whatever comes later.
class SimulationOutput {
 public:
  /// Opens `--out`, so that it is known to be one before anything is simulated.
  explicit SimulationOutput(const OutputOptions& options);

  /// Gives up the jobs and the series of the run.
  void store(results::Run& run);
  /// Writes `--series-out`.
  void finish() const;

 private:
  const OutputOptions& options_;
  std::unique_ptr<results::ResultsFile> file_;
  std::string series_;
};

}  // namespace berth::cli
