#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/results/results_reader.hpp"

namespace berth::report {

/// A run with what other tables say of it.
struct ReportRun {
  results::StoredRun stored;
  std::map<std::string, std::string> details;
  std::vector<results::InputFile> inputs;
  std::int64_t jobs_stored = 0;
};

/// Names and values of what a run was asked for; names are the columns of `runs`, of `details`, and `param NAME`.
using NamedSettings = std::vector<std::pair<std::string, std::string>>;

/// Runs that differ by nothing but their seed.
struct Configuration {
  std::string policy, label;
  NamedSettings varying;          ///< those that not all configurations share
  std::vector<std::size_t> runs;  ///< of ReportInput::runs, by seed, each seed once
  std::size_t scenario = 0;
};

/// Configurations that differ by nothing but policy and parameters. So they can be compared.
struct ComparedScenario {
  std::string label;
  std::vector<std::size_t> configurations;
  std::size_t baseline = 0;  ///< one of them
};

struct ReportInput {
  std::string path;
  std::vector<ReportRun> runs;
  std::vector<Configuration> configurations;
  std::vector<ComparedScenario> scenarios;
  std::vector<std::string> varying;  ///< names of settings that differ between configurations; not `policy`
  std::vector<std::string> notes;    ///< what was left out
};

/// @param only      Ids of runs; empty: all.
/// @param baseline  The policy that others are compared with; empty: the first of each scenario.
/// @throws InvalidArgument when there is no such run or policy, and no run at all.
ReportInput read_report_input(results::ResultsReader& store, const std::string& path, const std::vector<std::int64_t>& only,
                              const std::string& baseline);

}  // namespace berth::report
