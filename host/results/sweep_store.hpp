#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/results/results_file.hpp"

namespace berth::results {

/// The jobs that count: those after the warm-up.
struct CountedFigures {
  std::int64_t jobs = 0, completed = 0, rejected = 0, unfinished = 0, killed = 0;
  sim::Distribution jct_us, wait_us, first_us;
};

/// A completed job of a run.
struct CompletedJob {
  TimeUs submit_us = 0, jct_us = 0, queue_us = 0, first_us = 0;  ///< the last: from submission to the first start
};

/// A run of a sweep, besides its results.
struct SweepEntry {
  std::string key;     ///< of the run's inputs
  std::string inputs;  ///< a JSON object
  CountedFigures counted;
};

/// A figure of a run that a sweep can report, by its column.
struct SweepMetric {
  enum Unit : std::uint8_t { kMicroseconds, kMillionths, kCount };
  std::string_view name;    ///< "mean_jct", ...
  std::string_view column;  ///< of `sweep_runs` or `runs`
  Unit unit;
};
inline constexpr std::size_t kSweepMetrics = 31;
extern const std::array<SweepMetric, kSweepMetrics> kSweepMetricTable;
/// Its place in the table; "jct" and "queue" are short for their means.
std::optional<std::size_t> sweep_metric(std::string_view name);

using SweepFigures = std::array<std::int64_t, kSweepMetrics>;

/// Keeps other sweeps out of a file. It ends with the process, whatever ends that.
class StoreLock {
 public:
  /// Creates the file if there is none. @throws EnvironmentError where another process has the lock.
  explicit StoreLock(const std::string& path);
  ~StoreLock();
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

 private:
  int fd_;
};

/// Results of runs of sweeps in a `berth.results.v1` file. At most one process at a time has it open as such.
class SweepStore {
 public:
  /// @throws as StoreLock and ResultsFile.
  explicit SweepStore(const std::string& path) : lock_(std::in_place, path), file_(path) {}
  /// A store in memory.
  explicit SweepStore(Database::InMemory memory) : file_(memory) {}

  /// Figures of the runs that are stored, by key.
  std::map<std::string, SweepFigures> figures();
  /// Stores a run with all its rows, or nothing. A key that is stored already stays as it is.
  SweepFigures add(const SweepEntry& entry, const Run& run);
  /// The same for what `packed_run` returned.
  SweepFigures add_packed(const std::string& key, std::string& packed);
  /// Takes over the runs of another file that this one lacks. @returns how many
  std::int64_t merge(const std::string& path);
  /// Versions of the program that made the runs.
  std::vector<std::string> versions();
  std::string hash();
  /// Completed jobs of a run whose rows were kept.
  std::vector<CompletedJob> jobs(const std::string& key);

 private:
  SweepFigures figures_of(const std::string& key);

  std::optional<StoreLock> lock_;  // before file_: SQLite's own locks would end with a descriptor that is closed earlier
  ResultsFile file_;
};

/// Figures of the runs of sweeps in a file, by key; none where there is no file. Others may write to it meanwhile.
std::map<std::string, SweepFigures> stored_figures(const std::string& path);

/// A run and its rows as bytes, for another process.
std::string packed_run(const SweepEntry& entry, const Run& run);

/// content_hash of a file that exists. @throws as SweepStore.
std::string hash_of_file(const std::string& path);

}  // namespace berth::results
