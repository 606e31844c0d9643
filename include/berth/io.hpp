#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "berth/delta.hpp"
#include "berth/engine.hpp"
#include "berth/export.hpp"
#include "berth/plan.hpp"
#include "berth/snapshot.hpp"
#include "berth/state.hpp"

namespace berth::io {

/// Reads a `berth.snapshot.v1` document. `name` stands for the file in errors.
/// @throws InputError naming file, line, JSON pointer and value; nothing half-read is returned.
BERTH_API Snapshot parse_snapshot(std::string_view json, const std::string& name = "snapshot");
/// The same, as a state: cheaper than `ClusterState(parse_snapshot(json))`, which checks twice.
BERTH_API ClusterState parse_state(std::string_view json, const std::string& name = "snapshot");
BERTH_API std::string to_json(const Snapshot& snapshot);

/// Reads a `berth.deltas.v1` document: changes for `state`, which is not changed and knows the shapes of its jobs.
/// @throws InputError naming file, line, JSON pointer and value.
BERTH_API std::vector<Delta> parse_deltas(std::string_view json, const ClusterState& state, const std::string& name = "deltas");
/// Reads such a document and applies it, all of it or nothing. @returns the new revision. @throws InputError
BERTH_API std::uint64_t apply_json(ClusterState& state, std::string_view json, const std::string& name = "deltas");

/// Reads or writes the plan of `state`. Ids that the state does not know are an InputError.
BERTH_API Plan parse_plan(std::string_view json, const ClusterState& state, const std::string& name = "plan");
BERTH_API std::string to_json(const Plan& plan, const ClusterState& state, bool with_timing = true);

BERTH_API PolicyState parse_policy_state(std::string_view json, const std::string& name = "state");
BERTH_API std::string to_json(const PolicyState& state);

/// {"policies": [{"name", "rule", "source", "discipline", "preemptive", "params": [{"name", "default", "help"}]}]}
BERTH_API std::string to_json(const std::vector<PolicyInfo>& policies);

/// Whole file, plain or gzip ("-": standard input). At most 512 MiB after unpacking.
/// @throws EnvironmentError when it cannot be read, InputError when it is too large.
BERTH_API std::string read_file(const std::string& path);
/// Writes beside the target, syncs, then renames: a failure leaves the old file. "-": standard output.
/// @throws EnvironmentError with the system's message.
BERTH_API void write_file(const std::string& path, std::string_view content);

}  // namespace berth::io
