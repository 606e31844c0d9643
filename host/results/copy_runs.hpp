#pragma once

#include <cstdint>
#include <string>

#include "host/results/database.hpp"

namespace berth::results {

/// Copies the runs of a sweep whose keys the file lacks from another one, attached as `schema`, with all their rows. Within a transaction
/// of the caller. @returns how many
std::int64_t copy_sweep_runs(Database& database, const std::string& schema);

}  // namespace berth::results
