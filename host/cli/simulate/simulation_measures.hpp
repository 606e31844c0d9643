#pragma once

#include <string>
#include <vector>

#include "host/io/json/json_writer.hpp"
#include "host/results/results_file.hpp"

/// Output of `berth simulate` for a run besides its main figures.
namespace berth::cli {

/// Its five values in millionths; `of` follows "mean_" and so on.
void add_spread(io::JsonWriter& out, const std::string& of, const sim::Distribution& spread);
/// Settings of the run that its figures depend on, besides the policy and its parameters.
void add_settings(io::JsonWriter& out, const sim::SimulationSettings& settings);
/// GPU-time lost and used, fairness and deadlines, as fields of the open object.
void add_measures(io::JsonWriter& out, const results::Run& run);
/// The list `groups`. @param by  Of sim::kGroupingNames; empty: nothing.
void add_groups(io::JsonWriter& out, const results::Run& run, const std::string& by);

/// A row for each run and group; of many groups, those with the most jobs. Empty without `by`.
std::string groups_table(const std::vector<results::Run>& runs, const std::string& by);

}  // namespace berth::cli
