#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/snapshot.hpp"
#include "berth/trace.hpp"

/// Importers turn published traces into `berth.trace.v1`, and cluster descriptions into nodes.
/// An importer is one file (`import_NAME.cpp`) and one line in `importers.def`.
namespace berth::io {

struct ImportOptions {
  std::string at;  ///< instant for cluster descriptions that change daily (core::parse_instant); empty: their first day
};

struct Imported {
  Trace trace;
  std::optional<Snapshot> cluster;         ///< only its cluster part; none when no file describes the cluster
  std::vector<std::string> cluster_notes;  ///< assumptions about the cluster
};

struct Importer {
  std::string_view name;
  std::string_view help;   ///< one line of description
  std::string_view files;  ///< accepted files, recognised by their headers
  Imported (*run)(const std::vector<std::string>& files, const ImportOptions& options);
};

/// All importers, sorted by name.
const std::vector<Importer>& importers();

/// Imports one trace: exactly one file of jobs, and the files that describe its cluster, in any order.
/// Rows without GPUs or run time are dropped and counted by cause in `trace.dropped`; `trace.notes` has the assumptions.
/// @throws InvalidArgument for an unknown format or a wrong number of files; InputError naming file, line, column and value;
///         EnvironmentError for a file that cannot be read.
Imported import_files(std::string_view format, const std::vector<std::string>& files, const ImportOptions& options = {});
/// The same, for callers that need only the trace.
Trace import_trace(std::string_view format, const std::vector<std::string>& files, const ImportOptions& options = {});

/// The cluster of `--cluster C`: "NxG" (see `uniform_cluster`), "NxGxTYPE", or several of these joined by '+' ("8x4xV100+8x4xK80").
/// Or a cluster or snapshot file, of which jobs, history and reservations are ignored.
/// An empty `spec` uses what the importer derived from its files.
/// @throws InvalidArgument when there is neither; InputError for an invalid file.
Snapshot cluster_from(const std::string& spec, const Imported& imported);

/// N nodes of G GPUs, one type, one root domain, no limits. @throws InvalidArgument beyond kMaxNodes and kMaxGpusPerNode.
Snapshot uniform_cluster(std::int64_t nodes, std::int64_t gpus_per_node);

}  // namespace berth::io
