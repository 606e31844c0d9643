#pragma once

#include <string>
#include <vector>

#include "host/io/slurm.hpp"

namespace berth::cli {

/// What errors call the snapshot that an import from Slurm made.
inline constexpr const char* kSlurmName = "snapshot made from Slurm";

/// Reads and imports what Slurm's commands printed; "-": standard input. Notes go to standard error.
/// @throws EnvironmentError or InputError naming the file.
io::SlurmImport read_slurm(const std::vector<std::string>& paths, bool held, bool tell_notes = true);

}  // namespace berth::cli
