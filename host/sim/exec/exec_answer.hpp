#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/state.hpp"
#include "host/core/engine/run_list.hpp"
#include "host/sim/base/decider.hpp"
#include "host/sim/exec/exec_question.hpp"

namespace berth::sim {

/// The answer of an external policy (docs/policy-exec.md).
struct ExecAnswer {
  std::vector<core::RunLine> run;
  std::vector<Rejected> away;
  TimeUs wake_us = kNever;
};

/// Reads the lines before `done`, each with its line feed.
/// @param question  asked about this state
/// @throws InvalidArgument naming line, text and problem: unknown words, jobs, nodes and GPUs, jobs and GPUs named
/// twice, counts that the
///         job cannot have, instants that are not in the future.
ExecAnswer parse_exec_answer(std::string_view lines, const ClusterState& state, const ExecQuestion& question);

}  // namespace berth::sim
