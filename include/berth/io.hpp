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
#include "berth/what_if.hpp"

namespace berth::io {

/// Reads a `berth.snapshot.v1` document.
/// @param name  Stands for the file in errors.
/// @throws InputError naming file, line, JSON pointer and value. Nothing is returned in part.
BERTH_API Snapshot parse_snapshot(std::string_view json, const std::string& name = "snapshot");
/// As `parse_snapshot`, but returns a state. Cheaper than `ClusterState(parse_snapshot(json))`, which checks twice.
BERTH_API ClusterState parse_state(std::string_view json, const std::string& name = "snapshot");
BERTH_API std::string to_json(const Snapshot& snapshot);

/// Reads a `berth.deltas.v1` document.
/// @param state  Supplies the shapes of the jobs that the deltas name. It is not changed.
/// @throws InputError naming file, line, JSON pointer and value.
BERTH_API std::vector<Delta> parse_deltas(std::string_view json, const ClusterState& state, const std::string& name = "deltas");
/// Reads a `berth.deltas.v1` document and applies it as a whole or not at all.
/// @returns the new revision.
/// @throws InputError as parse_deltas.
BERTH_API std::uint64_t apply_json(ClusterState& state, std::string_view json, const std::string& name = "deltas");

/// Reads a `berth.edits.v1` document: edits in short forms and as deltas.
/// @param state  What they edit. Domains that only nodes of the edits are in are added to it, which changes no plan.
/// @throws InputError naming file, line, JSON pointer and value, also for unknown ids and for edits that contradict each other.
BERTH_API std::vector<Edit> parse_edits(std::string_view json, ClusterState& state, const std::string& name = "edits");
/// Writes the answers to edits of one state as a `berth.whatif.v1` document.
/// @param base  The plan that they are compared with.
BERTH_API std::string to_json(const Plan& base, const std::vector<EditOutcome>& outcomes);
/// The same for the answer of `WhatIfEngine::make_room`.
BERTH_API std::string to_json(const Plan& base, const RoomAnswer& room);

/// Reads or writes a plan of `state`.
/// @throws InputError for an id that is not in the state.
BERTH_API Plan parse_plan(std::string_view json, const ClusterState& state, const std::string& name = "plan");
BERTH_API std::string to_json(const Plan& plan, const ClusterState& state, bool with_timing = true);

BERTH_API PolicyState parse_policy_state(std::string_view json, const std::string& name = "state");
BERTH_API std::string to_json(const PolicyState& state);

/// {"policies": [{"name", "rule", "source", "discipline", "preemptive", "params": [{"name", "default", "help"}]}]}
BERTH_API std::string to_json(const std::vector<PolicyInfo>& policies);

/// Reads a whole file, plain or gzip. "-" is standard input.
/// @throws EnvironmentError when it cannot be read, InputError when it exceeds 512 MiB after unpacking,
/// or is JSON with a string or number over 16 MiB.
BERTH_API std::string read_file(const std::string& path);
/// Writes a temporary file next to the target, syncs it, then renames it: a failure leaves the old file. "-" is standard output.
/// A name that ends in ".gz" gets gzip.
/// @throws EnvironmentError with the message of the system.
BERTH_API void write_file(const std::string& path, std::string_view content);

}  // namespace berth::io
