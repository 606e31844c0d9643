#pragma once

#include <string>
#include <vector>

namespace berth::bench {

/// Results of several runs as one: all rows and instances, in the order of the runs. It has the context of the first
/// run, and all contexts under `contexts`, so that each run's facts stay correct. Each cell must have been run as a
/// whole.
/// @param texts  of the files; @param names  their names, for errors. Same count, at least one.
/// @throws InputError for a text that is no result, has gaps at other times than the first, or repeats a row of an
/// earlier one
std::string merged(const std::vector<std::string>& texts, const std::vector<std::string>& names);

}  // namespace berth::bench
