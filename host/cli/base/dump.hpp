#pragma once

#include <string>

#include "berth/engine.hpp"

namespace berth::cli {

/// Writes the files that reproduce a failed decision: snapshot.json, state.json (the policy state), request.json, and
/// error.txt with the message and the command. The folder is created when it does not exist.
/// @throws EnvironmentError when it cannot be written.
void dump_decision(const std::string& folder, const ClusterState& state, const PolicyState& policy_state, const Request& request,
                   const std::string& message);

/// The command that reproduces it: "berth plan --snapshot snapshot.json --policy ...".
std::string replay_command(const Request& request, bool with_state);

}  // namespace berth::cli
