#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/export.hpp"
#include "berth/plan.hpp"
#include "berth/state.hpp"

namespace berth {

/// Where a decision is computed. It does not change the plan. kAuto is kCpu.
enum class Backend : std::uint8_t { kAuto, kReference, kCpu, kCuda };

/// What a policy keeps between decisions: scalars, and integer columns keyed by job id.
struct PolicyState {
  std::int32_t version = 1;
  std::string policy;
  std::map<std::string, std::int64_t> scalars;
  std::map<std::string, std::map<std::string, std::int64_t>> columns;  ///< column -> job id -> value
  bool operator==(const PolicyState&) const = default;
};

struct Request {
  std::string policy = "fifo";
  std::vector<std::pair<std::string, std::string>> params;  ///< see `policies()`
  Backend backend = Backend::kAuto;
  /// The GPU of the backend cuda: its index in `berth devices`, or its UUID. Empty: the first that can be used. Does not change the plan.
  std::string device;
  int threads = 1;
  /// The plan lists only jobs that start, move, stop, are repaired or rejected, and reservations that differ from the engine's
  /// last plan: `Plan::changes_only`.
  bool changes_only = false;
  std::uint64_t seed = 0;
  /// Maximum number of jobs in the scheduling pass, or of evaluations, generations or rounds of the policy; 0: no limit. Deterministic.
  std::int64_t max_iterations = 0;
  TimeUs budget_us = 0;  ///< wall clock; 0: no limit. `Plan::iterations`, as `max_iterations`, reproduces the plan.
  /// Called on the thread of `decide` about every 64 jobs with (jobs done, all jobs), by the backends cpu and reference.
  /// Policies that search call it with (steps done, maximum). Returning false stops as `cancel` does. Must not throw.
  std::function<bool(std::int64_t, std::int64_t)> progress;
};

struct PolicyParam {
  std::string name, default_value, help;
};

/// Description of a policy, as `berth policies` prints it.
struct PolicyInfo {
  std::string name, rule, source;
  std::string discipline = {};
  bool preemptive = false;
  std::vector<PolicyParam> params = {};
};

/// All policies, sorted by name.
BERTH_API std::vector<PolicyInfo> policies();

class EngineImpl;

/// Computes decisions on a state. Engines are independent of each other.
/// One thread at a time may use an engine, but any thread may call `cancel`.
class BERTH_API Engine {
 public:
  Engine();
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  /// Computes a plan for `state` at its current revision. The state is not changed.
  ///
  /// The plan is a pure function of (state, policy_state, request): backend and threads do not change it. Which reservations
  /// a plan of changes lists depends on the engine's last plan, too: `Plan::reservations_since`.
  /// Every returned plan has passed the validator. The engine keeps its buffers between calls.
  /// @param state         The cluster and its jobs.
  /// @param policy_state  In: from the last decision. Out: for the next one.
  /// @param request       Policy, parameters, backend and limits.
  /// @param plan          Out, overwritten.
  /// @throws InvalidArgument for an unknown policy, parameter or device; InternalError for a plan that fails validation.
  void decide(const ClusterState& state, PolicyState& policy_state, const Request& request, Plan& plan);
  /// The same without a policy state: the policy keeps nothing.
  Plan decide(const ClusterState& state, const Request& request);

  /// Stops a running `decide` at its next check. That call returns its best plan so far, with stopped_by "cancel".
  void cancel() noexcept;

 private:
  std::unique_ptr<EngineImpl> impl_;
};

/// Applies a plan to the state: stops, moves and starts jobs.
///
/// What preempted, moved, resized and replaced jobs hold is released before anything starts. A replaced gang counts a restart, as a moved
/// job does. A plan from `decide` is valid. Check a plan from elsewhere with `validate_plan` first.
/// @returns the new revision.
/// @throws StalePlan when the plan is for another revision of the state; InvalidArgument or InputError when it cannot be applied, or
/// lists other numbers of starts, moves, preemptions or repairs than its totals: a part of a plan is no plan.
BERTH_API std::uint64_t commit(ClusterState& state, const Plan& plan);

/// Checks a plan against the state, independently of the code that made it.
/// @param most  Maximum number of violations to report.
/// @returns the violations found; empty for a valid plan.
BERTH_API std::vector<std::string> validate_plan(const ClusterState& state, const Plan& plan, std::size_t most = 20);

/// Returns the reason as one sentence: "needs 16 GPUs in one rack; best rack has 12 left: r07".
BERTH_API std::string render_reason(const ClusterState& state, const Reason& reason, std::int32_t job);
/// Returns the smallest single change that would let the job start; empty when none is known.
/// It completes the words "would start if", for example "4 more free there".
BERTH_API std::string render_would_start_if(const ClusterState& state, const Reason& reason, std::int32_t job);
/// Returns the location that `best` refers to: the id of a node or the name of a domain.
/// The name is a full path where names repeat. It is empty when `best` refers to the whole cluster.
BERTH_API std::string render_where(const ClusterState& state, const Reason& reason);
/// Returns true when the necessary condition of the reason fails on this cluster, even if all jobs left it.
BERTH_API bool check_certificate(const ClusterState& state, const Reason& reason, std::int32_t job);

}  // namespace berth
