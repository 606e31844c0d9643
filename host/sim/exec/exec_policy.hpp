#pragma once

#include <functional>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/core/engine/run_list.hpp"
#include "host/sim/base/decider.hpp"
#include "host/sim/exec/exec_question.hpp"
#include "host/sim/exec/line_process.hpp"

namespace berth::sim {

/// An external policy failed: its program, or its answer.
class ExecPolicyError : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

/// A policy that is an external program, connected by a line protocol (docs/policy-exec.md). Serves one simulation.
class ExecPolicy {
 public:
  /// Starts it.
  /// @param request      `policy` is its name, in plans and messages; backend and threads place jobs
  /// @param timeout_us   wall clock: see LineProcess
  /// @param stopped      see LineProcess
  /// @throws EnvironmentError where no process can be made.
  ExecPolicy(const std::string& command, TimeUs timeout_us, const Request& request, core::Packing packing,
             std::function<bool()> stopped = {});

  /// One decision. @throws ExecPolicyError naming the policy, the instant, and the line or what is invalid about the plan; DecisionStopped.
  void decide(const ClusterState& state, Plan& plan, std::vector<Rejected>& away);
  /// After the last one. @throws ExecPolicyError unless the program ends well, or `stopped` ends the waiting.
  void finish();

 private:
  Request request_;
  core::Packing packing_;
  LineProcess process_;
  ExecQuestion question_;
  core::RunList list_;
};

}  // namespace berth::sim
