#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"

/// Whole columns of a PolicyState, with a value for each job that a policy decides on.
namespace berth::core {

/// The jobs, by id, and the index of each.
using JobsById = std::vector<std::pair<const std::string*, std::int32_t>>;

void sort_by_id(JobsById& jobs);

/// @param values  [jobs] in and out: values that the column does not have stay
void read_column(const PolicyState& kept, const std::string& name, const JobsById& jobs, std::vector<std::int64_t>& values);

/// Removes rows of other jobs. Rows of these jobs stay in place, so that known jobs cost no allocation.
void write_column(PolicyState& kept, const std::string& name, const JobsById& jobs, const std::vector<std::int64_t>& values);

}  // namespace berth::core
