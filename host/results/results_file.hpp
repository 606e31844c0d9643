#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "berth/trace.hpp"
#include "host/results/database.hpp"
#include "host/sim/measures/figures.hpp"
#include "host/sim/measures/measures.hpp"
#include "host/sim/measures/stays.hpp"
#include "host/sim/replay/settings.hpp"

namespace berth::results {

/// A file that a run was read from.
struct InputFile {
  std::string option;  ///< that named it, such as --trace
  std::string path;    ///< as it was given
  std::int64_t bytes = 0;
  std::string sha256;  ///< of its bytes, in hexadecimal digits
};
class TableRows;

/// A finished simulation and its results.
struct Run {
  std::string policy;            ///< as requested, with its parameters
  std::string cluster;           ///< as requested; empty: the cluster of the trace's files
  const Trace* trace = nullptr;  ///< its jobs only where `measures` has jobs
  std::int64_t jobs = 0;         ///< of it
  sim::SimulationSettings settings;
  sim::SimulationFigures figures;
  sim::SimulationTotals totals;
  sim::Measures measures;
  std::map<std::string, std::string> details;      ///< `command`: the line that ran it, among others; settings that `settings` lacks
  std::vector<InputFile> inputs;                   ///< files that it read
  std::vector<sim::StayNode> nodes;                ///< of the cluster, where stays were requested
  std::vector<sim::Stay> stays;                    ///< where requested
  std::map<std::string, std::int64_t> rejections;  ///< reason -> jobs; not in the file, whose jobs have their reasons
  double load_s = 0;                               ///< reading the trace took
  double wall_s = 0;                               ///< the simulation took
  double store_s = 0;                              ///< writing all this took; not in the file
};

/// A `berth.results.v1` file: docs/formats/results.md.
///
/// Runs are only ever added, each in one transaction, so a file always has whole runs even if the process dies. Other
/// processes may read at the same time (WAL), and add runs of their own.
class ResultsFile {
 public:
  /// Opens the file, or creates it. @throws InputError when it is something else, or of another version;
  /// EnvironmentError.
  explicit ResultsFile(const std::string& path);
  /// Results in memory.
  explicit ResultsFile(Database::InMemory memory);

  /// @returns the id of the run. @throws EnvironmentError; nothing of the run is in the file then.
  std::int64_t add(const Run& run);
  /// The same within a transaction of the caller.
  std::int64_t add_within(const Run& run);

  Database& database() { return database_; }

 private:
  void create_tables();

  Database database_;
};

/// Checks that an open database, attached as `schema`, has results in this version. @throws InputError naming `path`.
void require_results(Database& database, const std::string& schema, const std::string& path, bool may_be_empty);

/// Adds the five columns `mean_OF`, `median_OF`, ... to a row.
void add_spread(TableRows& row, const std::string& of, const sim::Distribution& spread);

}  // namespace berth::results
