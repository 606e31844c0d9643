#pragma once

#include <string>

#include "host/results/database.hpp"

namespace berth::results {

/// A hash of all runs of the file and their rows, whatever their order. It leaves out ids, the version of the program, when a run was
/// written, and what was measured with a clock: docs/formats/results.md, "Content hash".
std::string content_hash(Database& database);

}  // namespace berth::results
