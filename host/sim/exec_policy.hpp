#pragma once

#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/core/run_list.hpp"
#include "host/sim/exec_question.hpp"
#include "host/sim/line_process.hpp"
#include "host/sim/simulation.hpp"

namespace berth::sim {

/// A policy in another language failed: its program, or its answer.
class ExecPolicyError : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

/// A policy that is a program, asked over a protocol of lines (docs/policy-exec.md). Serves one simulation.
class ExecPolicy {
 public:
  /// Starts it.
  /// @param request      `policy` is its name, in plans and messages; backend and threads place jobs
  /// @param patience_us  wall clock: see LineProcess
  /// @throws EnvironmentError where no process can be made.
  ExecPolicy(const std::string& command, TimeUs patience_us, const Request& request, core::Placement placement);

  /// One decision. @throws ExecPolicyError naming the policy, the instant, and the line or what is invalid about the plan.
  void decide(const ClusterState& state, Plan& plan, std::vector<TurnedAway>& away);
  /// After the last one. @throws ExecPolicyError unless the program ends well.
  void finish();

 private:
  Request request_;
  core::Placement placement_;
  LineProcess process_;
  ExecQuestion question_;
  core::RunList list_;
};

}  // namespace berth::sim
