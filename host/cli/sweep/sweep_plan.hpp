#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/cli/sweep/sweep_spec.hpp"

namespace berth::cli {

/// Runs that differ in their seeds alone.
struct SweepCell {
  RunTexts texts;
  RunDraft draft;
  std::string identity;             ///< of the runs, but for their seed
  std::string inputs;               ///< of what happens to jobs; the same for all cells of a block
  std::vector<std::string> labels;  ///< one for each column of the plan
  std::size_t block = 0;
  std::int64_t most_decisions = 0;  ///< > 0: a run that makes more is given up, as one that does not end
  TimeUs most_us = 0;               ///< > 0: the same for a run that takes longer, by the clock
};

/// The runs of a spec.
struct SweepPlan {
  SweepSpec spec;
  std::vector<std::string> columns;              ///< keys that have several values
  std::vector<SweepCell> cells;                  ///< by block, in the order of the axes
  std::vector<std::vector<std::size_t>> blocks;  ///< cells that differ only in how jobs are scheduled
  std::string fingerprint;                       ///< of all this, so that two processes know that they mean the same

  std::int64_t first_runs() const { return static_cast<std::int64_t>(cells.size() * spec.seeds.size()); }
  /// For how many seeds the cells of a block may run.
  std::int64_t most_seeds() const;
};

/// The key of a run: it depends on what the run is, not on the other runs of the spec.
std::string sweep_key(const SweepCell& cell, std::int64_t seed);

/// A cell without labels, of texts that may be empty. @throws InvalidArgument; EnvironmentError for files that cannot be read.
SweepCell make_cell(RunTexts texts, RunIdentity& identity, const std::string& folder);

/// @throws InputError naming the spec; InvalidArgument; EnvironmentError for files that cannot be read.
SweepPlan plan_sweep(SweepSpec spec);

}  // namespace berth::cli
