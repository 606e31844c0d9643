#pragma once

#include <string>
#include <vector>

namespace berth::bench {

/// Results of several runs as one: all rows and instances, in the order of the runs; the context of the first, and all contexts under
/// `contexts`, so that nothing is said of a run that is not true of it. Each cell must have been run as a whole.
/// @param texts  of the files; @param names  theirs, for errors. As many, at least one.
/// @throws InputError for what is no result, has gaps at other times than the first, or a row that an earlier one has
std::string merged(const std::vector<std::string>& texts, const std::vector<std::string>& names);

}  // namespace berth::bench
