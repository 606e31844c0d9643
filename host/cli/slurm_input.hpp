#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/error.hpp"
#include "host/io/slurm.hpp"

namespace berth::cli {

/// What errors call the snapshot that an import from Slurm made.
inline constexpr const char* kSlurmName = "snapshot made from Slurm";

bool looks_like_slurm(std::string_view text);

/// Reads and imports what Slurm's commands printed; "-": standard input. Notes go to standard error.
/// @throws EnvironmentError or InputError naming the file.
io::SlurmImport read_slurm(const std::vector<std::string>& paths, bool held, bool tell_notes = true);

/// Calls `parse` for the text of a snapshot; where it is what Slurm's commands print, the error says which option reads that.
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
