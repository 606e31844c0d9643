#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/problem.hpp"
#include "berth/plan.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// The walk predicts the end of a job by the tightest place that it could get; where it lies it may run longer. What then no longer
/// keeps an end time is withdrawn from the outcomes: jobs that would outstay their nodes wait, and a reservation of GPUs that somebody
/// still has when it begins is dropped. Nobody else moves up.
class Overruns {
 public:
  void withdraw(const StateImpl& state, const kernel::ProblemView& problem, const kernel::PlaceRequest& request,
                const kernel::PlaceResult& result);

 private:
  TimeUs finish(const StateImpl& state, const kernel::ProblemView& problem, const kernel::PlaceResult& result, std::int32_t job,
                std::int32_t i, TimeUs start);
  bool reservation_holds(const StateImpl& state, const kernel::ProblemView& problem, const kernel::PlaceRequest& request,
                         const kernel::PlaceResult& result, std::int32_t reserved);

  std::vector<PlanEntry> entries_;
  std::vector<std::uint64_t> reserved_gpus_;  // [nodes]
};

}  // namespace berth::core
