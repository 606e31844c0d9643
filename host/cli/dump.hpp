#pragma once

#include <string>

#include "berth/engine.hpp"

namespace berth::cli {

/// Writes what repeats a decision that failed: snapshot.json, state.json (what the policy kept), request.json, and error.txt with the
/// message and the command to run in that folder. The folder is made when it is not there.
/// @throws EnvironmentError when it cannot be written.
void dump_decision(const std::string& folder, const ClusterState& state, const PolicyState& policy_state, const Request& request,
                   const std::string& message);

/// The command that repeats it: "berth plan --snapshot snapshot.json --policy ...".
std::string replay_command(const Request& request, bool with_state);

}  // namespace berth::cli
