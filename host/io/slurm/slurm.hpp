#pragma once

#include <map>
#include <string>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/io/topology/apply_links.hpp"

namespace berth::io {

/// One file or stream. It may have several documents in sequence: `squeue --json`, `sinfo --json`, `scontrol show topology`.
struct SlurmInput {
  std::string name;  ///< for errors
  std::string text;
};

struct SlurmOptions {
  bool held = false;          ///< plan held jobs as if they were released now
  LinkOptions links = {};     ///< what Slurm does not say of the network
  NodeDefaults nodes = {};    ///< with a topology alone: its nodes have these GPUs
  std::string topology = {};  ///< of several in topology.yaml, the one of this name
};

struct SlurmImport {
  Snapshot snapshot;
  std::vector<std::string> notes;               ///< assumptions and omissions, counted by cause
  std::map<std::string, std::string> left_out;  ///< jobs that are not in the snapshot, by id, and why
};

/// Creates a snapshot of a Slurm cluster from the output of its commands; docs/slurm.md describes the translation of every field.
///
/// Documents are recognised by their content and may come in any order:
/// - jobs: `squeue --json`; without them the machines count as empty;
/// - nodes (required): `sinfo --json` of 22.05, `scontrol show nodes --json` later;
/// - topology: `scontrol show topology`, topology.conf or topology.yaml;
/// - accounts and QOS: `sacctmgr -P show assoc`, `sacctmgr -P show qos`, `scontrol show assoc_mgr`.
/// Time 0 is 1970-01-01 UTC. `now` is the latest past instant in the documents or a line "now=SECONDS", so the result is deterministic.
/// The snapshot passes `check_snapshot`: errors are reported here with their position.
/// @throws InputError naming file, line, JSON pointer and value.
SlurmImport import_slurm(const std::vector<SlurmInput>& inputs, const SlurmOptions& options = {});

}  // namespace berth::io
