#pragma once

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/forecast/future_jobs.hpp"

namespace berth::sim {

/// Futures in which the live engine decides, for all that counts of GPUs do not say: constraints, quotas, gangs, drained nodes.
class LiveFuture {
 public:
  /// @param begin  as it is when futures begin, with all jobs
  /// @param nodes  those that may fail
  LiveFuture(const Snapshot& begin, const Snapshot& nodes, const FutureSettings& settings, PolicyState policy_state);
  /// After `jobs.begin`. @returns false when the deadline came first
  bool run(FutureJobs& jobs, std::size_t present, const FutureDeadline& deadline);

 private:
  const Snapshot& begin_;
  Request request_;
  PolicyState policy_state_;
  const Snapshot& nodes_;
  TimeUs until_, least_wake_;
};

}  // namespace berth::sim
