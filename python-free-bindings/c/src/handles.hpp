#pragma once

#include <berth.h>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/delta.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/state/state_view.hpp"
#include "python-free-bindings/c/src/handle.hpp"

/// Content of the four kinds of handles.
namespace berth::c {

struct State {
  explicit State(ClusterState loaded) : state_(std::move(loaded)) {}
  /// @throws StateLost after memory ran out during a change.
  ClusterState& whole() {
    StateView(state_).check_whole();
    return state_;
  }
  std::shared_ptr<const int> identity = std::make_shared<const int>(0);  // identifies the state that a plan belongs to
  std::vector<Delta> batch;                                              // kept, so that its memory is reused
  std::uint64_t batches = 0, refused_batches = 0;

 private:
  ClusterState state_;
};

struct Memory {
  PolicyState state;
};

struct Planned {
  Plan plan;
  std::shared_ptr<const int> of;  // identity of the state; null: no decision yet
  bool read = false;              // from a document: not checked
};

/// @throws InvalidArgument when there was no decision into it.
inline const Plan& decided(const Planned& planned) {
  if (!planned.of) throw InvalidArgument("the plan holds no decision");
  return planned.plan;
}

/// The plan, when it is of the current revision of this state. @throws InvalidArgument, StalePlan, StateLost
inline const Plan& of_state(const Planned& planned, State& state) {
  const Plan& plan = decided(planned);
  if (planned.of != state.identity) throw StalePlan("the plan is of another state");
  const std::uint64_t now = state.whole().revision();
  if (plan.revision != now) {
    throw StalePlan("the plan is of revision " + std::to_string(plan.revision) + ", the state of " + std::to_string(now));
  }
  return plan;
}

/// Read by other threads while a decision runs.
struct Stats {
  std::atomic<std::uint64_t> decisions{0}, failures{0}, by_iterations{0}, by_budget{0}, by_cancel{0}, jobs_visited{0};
  std::atomic<std::uint64_t> ns_total{0}, ns_last{0}, ns_max{0};
};

struct Log {
  std::int32_t level = 0;
  berth_log_callback callback = nullptr;
  void* data = nullptr;
};

struct Decider {
  Engine engine;
  Request request;
  Stats stats;
  Log log;
};

}  // namespace berth::c

struct berth_state final : berth::c::HandleOf<berth::c::HandleKind::kState, berth::c::State> {
  using HandleOf::HandleOf;
};
struct berth_policy_state final : berth::c::HandleOf<berth::c::HandleKind::kMemory, berth::c::Memory> {
  using HandleOf::HandleOf;
};
struct berth_engine final : berth::c::HandleOf<berth::c::HandleKind::kEngine, berth::c::Decider> {
  using HandleOf::HandleOf;
};
struct berth_plan final : berth::c::HandleOf<berth::c::HandleKind::kPlan, berth::c::Planned> {
  using HandleOf::HandleOf;
};

namespace berth::c {

/// Without `progress`. @throws InvalidArgument naming the field
void read_request(const berth_request* request, Request& out);

/// Sets `*handle = nullptr` after the handle has ended. Null is allowed.
template <class H>
void destroy(H** handle, const char* what) {
  if (handle == nullptr || *handle == nullptr) return;
  H& ends = checked(*handle, what);
  if (!ends.try_enter()) throw Busy(std::string(what) + " is in use by another call");
  if (!ends.is(H::kKind)) {
    ends.leave();
    throw InvalidHandle(std::string(what) + " was destroyed");
  }
  retire(&ends);
  *handle = nullptr;
}

}  // namespace berth::c
