#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/sweep/sweep_inputs.hpp"
#include "host/results/sweep_store.hpp"

namespace berth::cli {

/// Runs that differ in their seeds alone.
struct SearchCell {
  RunTexts texts;
  std::int64_t most_decisions = 0;  ///< > 0: a run that makes more is given up
  TimeUs most_us = 0;               ///< > 0: the same for a run that takes longer
};

/// Figures of a cell, by seed. Runs that failed are missing.
using SeedFigures = std::map<std::int64_t, results::SweepFigures>;

struct SearchBatch {
  std::vector<SeedFigures> figures;              ///< [cells]
  std::map<std::string, std::int64_t> problems;  ///< runs by what went wrong
};

/// Makes the runs of a search in batches, on threads, as a sweep does. Runs that the store has are not made again.
class SearchRuns {
 public:
  /// @param out  the store; empty: results stay in memory. @throws as SweepStore
  SearchRuns(const std::string& out, int threads);

  /// Nothing after a signal. @param show  called now and then with the number of runs of the batch, and of those that are done
  /// @throws InvalidArgument naming an option; EnvironmentError.
  using Show = std::function<void(std::int64_t done, std::int64_t all)>;
  std::optional<SearchBatch> make(const std::vector<SearchCell>& cells, const std::vector<std::int64_t>& seeds, const Show& show);

  /// The jobs and the cluster of a run. @throws InvalidArgument, InputError, EnvironmentError
  std::shared_ptr<const SweepWorld> world(const RunTexts& texts, std::int64_t seed);
  /// Completed jobs of a run that was made with keep=jobs.
  std::vector<results::CompletedJob> jobs(const RunTexts& texts, std::int64_t seed);

  std::int64_t made() const { return made_; }
  std::int64_t resumed() const { return resumed_; }  ///< runs that the store had before
  std::set<std::string> notes() { return inputs_.notes(); }
  const std::string& out() const { return out_; }

 private:
  SweepCell cell_of(const RunTexts& texts);

  std::string out_;
  int threads_;
  std::unique_ptr<results::SweepStore> store_;
  std::map<std::string, results::SweepFigures> stored_;
  std::set<std::string> counted_;  // keys of runs that the search needed
  SweepInputs inputs_;
  RunIdentity identity_;
  std::int64_t made_ = 0, resumed_ = 0;
};

}  // namespace berth::cli
