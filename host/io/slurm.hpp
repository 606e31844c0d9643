#pragma once

#include <map>
#include <string>
#include <vector>

#include "berth/snapshot.hpp"

namespace berth::io {

/// One file or stream. It may hold several documents one after another: `squeue --json`, then `sinfo --json`, then `scontrol show
/// topology`.
struct SlurmInput {
  std::string name;  ///< for errors
  std::string text;
};

struct SlurmOptions {
  bool held = false;  ///< plan held jobs as if they were released now
};

struct SlurmImport {
  Snapshot snapshot;
  std::vector<std::string> notes;               ///< what was assumed or left out, counted by cause
  std::map<std::string, std::string> left_out;  ///< jobs that the snapshot has not, by id, and why
};

/// The snapshot of a Slurm cluster from what its own commands print; docs/slurm.md says what becomes of every field.
///
/// Documents are told apart by their content and may come in any order: jobs (`squeue --json`), nodes (`sinfo --json` of 22.05,
/// `scontrol show nodes --json` later; needed), topology (`scontrol show topology` or topology.conf). Time 0 is 1970-01-01 UTC; `now` is
/// the latest instant that the documents, or a line "now=SECONDS", name as past, so that the same files give the same snapshot. Without
/// jobs the machines are taken for empty. The snapshot passes `check_snapshot`: what would break it is refused here, where it stands.
/// @throws InputError naming file, line, JSON pointer and value.
SlurmImport import_slurm(const std::vector<SlurmInput>& inputs, const SlurmOptions& options = {});

}  // namespace berth::io
