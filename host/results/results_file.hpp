#pragma once

#include <cstdint>
#include <string>

#include "berth/trace.hpp"
#include "host/results/database.hpp"
#include "host/sim/figures.hpp"
#include "host/sim/measures.hpp"

namespace berth::results {

/// A simulation that was run, and what came out.
struct Run {
  std::string policy;            ///< as it was asked for, with parameters of its own
  std::string cluster;           ///< as it was asked for; empty: what the trace's files describe
  const Trace* trace = nullptr;  ///< its jobs only where `measures` has jobs
  std::int64_t jobs = 0;         ///< of it
  sim::SimulationSettings settings;
  sim::SimulationFigures figures;
  sim::SimulationTotals totals;
  sim::Measures measures;
  double load_s = 0;   ///< reading the trace took
  double wall_s = 0;   ///< the simulation took
  double store_s = 0;  ///< writing all this took; not in the file
};

/// A `berth.results.v1` file: docs/formats/results.md.
///
/// Runs are only ever added. Each is one transaction: whatever ends the process, a file has whole runs. Others may read at the same time
/// (WAL), and add runs of their own.
class ResultsFile {
 public:
  /// Opens the file, or makes it. @throws InputError when it is something else, or of another version; EnvironmentError.
  explicit ResultsFile(const std::string& path);

  /// @returns the id of the run. @throws EnvironmentError; nothing of the run is in the file then.
  std::int64_t add(const Run& run);

 private:
  Database database_;
};

}  // namespace berth::results
