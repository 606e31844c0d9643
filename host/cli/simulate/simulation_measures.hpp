#pragma once

#include <string>
#include <vector>

#include "host/results/results_file.hpp"

/// Tables of `berth simulate` for a run besides its main figures.
namespace berth::cli {

/// A row for each run whose jobs have deadlines; empty where none has.
std::string deadlines_table(const std::vector<results::Run>& runs);
/// A row for each run and group; of many groups, those with the most jobs. Empty without `by`.
/// @param by  Of sim::kGroupingNames.
std::string groups_table(const std::vector<results::Run>& runs, const std::string& by);

}  // namespace berth::cli
