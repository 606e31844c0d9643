#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "berth/plan.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Corrects outcomes after placement: the pass predicts the end of a job at its tightest placement, and the actual one
/// may take longer. Jobs that would outstay their nodes then wait. A reservation of GPUs that another job still holds
/// when it begins is dropped. No other job moves up.
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
