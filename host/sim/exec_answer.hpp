#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/state.hpp"
#include "host/core/run_list.hpp"
#include "host/sim/exec_question.hpp"
#include "host/sim/simulation.hpp"

namespace berth::sim {

/// What a policy in another language wants (docs/policy-exec.md).
struct ExecAnswer {
  std::vector<core::RunLine> run;
  std::vector<TurnedAway> away;
  TimeUs wake_us = kNever;
};

/// Reads the lines before `done`, each with its line feed.
/// @param question  that was asked about this state
/// @throws InvalidArgument naming line, text and problem: unknown words, jobs, nodes and GPUs, jobs and GPUs named twice, counts that the
///         job cannot have, instants that are not to come.
ExecAnswer parse_exec_answer(std::string_view lines, const ClusterState& state, const ExecQuestion& question);

}  // namespace berth::sim
