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

enum class Backend : std::uint8_t { kAuto, kReference, kCpu, kCuda };

/// What a policy keeps from one decision to the next: integer columns keyed by job id, and scalars.
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
  int threads = 1;
  std::uint64_t seed = 0;
  std::int64_t work_limit = 0;  ///< jobs walked at most; 0: no limit. Repeatable.
  TimeUs budget_us = 0;         ///< wall clock; 0: none. The plan names the work done, which repeats it.
  /// Called on the deciding thread about every 64 jobs with (walked, of all), by the backends cpu and reference, and by a policy that
  /// searches with (steps made, at most); false stops as `cancel` does. Must not throw.
  std::function<bool(std::int64_t, std::int64_t)> progress;
};

struct PolicyParam {
  std::string name, default_value, help;
};

struct PolicyInfo {
  std::string name, rule, source, discipline;
  bool preemptive = false;
  std::vector<PolicyParam> params;
};

/// All policies, by name.
BERTH_API std::vector<PolicyInfo> policies();

class EngineImpl;

/// Decides on a state. Engines are independent; one engine serves one thread at a time, but
/// `cancel` may be called from any thread.
class BERTH_API Engine {
 public:
  Engine();
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  /// Computes a plan for `state` at its current revision; the state is not changed.
  ///
  /// A pure function of (state, policy_state, request): backend and threads do not change the answer.
  /// Every returned plan has passed the validator. Buffers are kept between calls on the same engine.
  /// @param policy_state  In: from the last decision. Out: for the next one.
  /// @throws InvalidArgument for an unknown policy or parameter; InternalError for a plan that fails validation.
  void decide(const ClusterState& state, PolicyState& policy_state, const Request& request, Plan& plan);
  Plan decide(const ClusterState& state, const Request& request);

  /// Stops a running `decide` at the next chance; it returns the best so far with stopped_by "cancel".
  void cancel() noexcept;

 private:
  std::unique_ptr<EngineImpl> impl_;
};

/// Carries a plan out on the state: starts, moves and stops jobs. @returns the new revision.
/// A plan that `decide` returned is valid; one from elsewhere is to be checked by `validate_plan` first.
/// @throws StalePlan when the state's revision is not the plan's; InvalidArgument or InputError for a plan that cannot be carried out.
BERTH_API std::uint64_t commit(ClusterState& state, const Plan& plan);

/// Checks a plan against the state independently of the code that made it.
/// @returns the violations found, at most `most`; empty for a valid plan.
BERTH_API std::vector<std::string> validate_plan(const ClusterState& state, const Plan& plan, std::size_t most = 20);

/// One sentence: "needs 16 GPUs in one rack; best rack has 12 left: r07".
BERTH_API std::string render_reason(const ClusterState& state, const Reason& reason, std::int32_t job);
/// The smallest single change that lets the job start: to be read after "starts if": "4 more free there"; empty when none is known.
BERTH_API std::string render_would_start_if(const ClusterState& state, const Reason& reason, std::int32_t job);
/// The place that `best` speaks of: a node's id or a domain's name (its full path where names repeat); empty when it is about the whole
/// cluster.
BERTH_API std::string render_where(const ClusterState& state, const Reason& reason);
/// True when the reason's necessary condition indeed fails on this cluster, whoever leaves it.
BERTH_API bool check_certificate(const ClusterState& state, const Reason& reason, std::int32_t job);

}  // namespace berth
