#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/error.hpp"
#include "host/io/slurm/slurm.hpp"

namespace berth::cli {

/// Name in errors of a snapshot that an import from Slurm made.
inline constexpr const char* kSlurmName = "snapshot made from Slurm";

bool looks_like_slurm(std::string_view text);

/// Reads and imports the output of Slurm's commands; "-": standard input. Notes go to standard error.
/// @throws EnvironmentError or InputError naming the file.
io::SlurmImport read_slurm(const std::vector<std::string>& paths, const io::SlurmOptions& options, bool print_notes = true);

/// Calls `parse` for the text of a snapshot; for output of Slurm's commands the error names the option that reads it.
template <class Parse>
auto parse_no_slurm(const std::string& text, Parse&& parse) {
  try {
    return parse();
  } catch (const InputError& error) {
    if (!looks_like_slurm(text)) throw;
    throw InvalidArgument(std::string(error.what()) + "; what Slurm's commands print is read with --slurm");
  }
}

}  // namespace berth::cli
