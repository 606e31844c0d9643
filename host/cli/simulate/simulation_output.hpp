#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/base/command.hpp"
#include "host/cli/base/places.hpp"
#include "host/results/results_file.hpp"

/// Output files of `berth simulate`.
namespace berth::cli {

struct OutputOptions {
  std::string series_out, series_every, out;
  std::string by;      ///< of sim::kGroupingNames, or empty
  bool stays = false;  ///< into `out`
};

void add_output_options(CLI::App& app, OutputOptions& options);
std::vector<Place> places(const OutputOptions& options);
/// Measures that runs need. @throws InvalidArgument naming the option.
sim::MeasuresRequest wanted(const OutputOptions& options, bool jobs);
/// By RFC 4180: a field with a comma, a quote or a line end is quoted.
std::string csv_field(const std::string& text);
/// Parses its name; nothing when it is empty.
std::optional<sim::GroupBy> group_by(const std::string& name);

/// Stores each run when it ends, so that finished runs are kept whatever happens later.
class SimulationOutput {
 public:
  /// Opens `--out`, so that a wrong file is reported before the simulation starts.
  explicit SimulationOutput(const OutputOptions& options);

  /// Stores the run and releases its jobs and series.
  void store(results::Run& run);
  /// Writes `--series-out`.
  void finish() const;

 private:
  const OutputOptions& options_;
  std::unique_ptr<results::ResultsFile> file_;
  std::string series_;
};

}  // namespace berth::cli
