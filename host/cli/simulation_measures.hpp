#pragma once

#include <string>
#include <vector>

#include "host/io/json_writer.hpp"
#include "host/results/results_file.hpp"

/// What `berth simulate` prints of a run beside its figures.
namespace berth::cli {

/// Its five values in millionths, `of` behind "mean_" and so on.
void add_spread(io::JsonWriter& out, const std::string& of, const sim::Spread& spread);
/// How the run was made: what its figures depend on beside the policy and its parameters.
void add_settings(io::JsonWriter& out, const sim::SimulationSettings& settings);
/// GPU-time lost and of use, fairness and deadlines, as fields of the object that is open.
void add_measures(io::JsonWriter& out, const results::Run& run);
/// The list `groups`. @param by  Of sim::kGroupingNames; empty: nothing.
void add_groups(io::JsonWriter& out, const results::Run& run, const std::string& by);

/// A row for each run and group, of many groups those with the most jobs; empty without `by`.
std::string groups_table(const std::vector<results::Run>& runs, const std::string& by);

}  // namespace berth::cli
