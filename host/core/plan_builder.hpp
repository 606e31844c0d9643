#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/backend.hpp"
#include "host/core/certificate.hpp"
#include "host/core/final_state.hpp"
#include "host/core/reasons.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

class ShapeChoice;

/// What one decision has found out, before it becomes a plan.
struct WalkOutput {
  const kernel::PlaceRequest* request = nullptr;
  const kernel::PlaceResult* result = nullptr;
  const kernel::ProblemView* problem = nullptr;       // that was walked
  const std::vector<std::uint8_t>* lost = nullptr;    // [slots] 1: runs on failed GPUs and could not be mended
  const std::vector<std::int32_t>* mended = nullptr;  // [slots] index in `mends`, or -1
  const std::vector<std::vector<PlanEntry>>* mends = nullptr;
  const std::vector<TimeUs>* remaining = nullptr;   // [slots] StateImpl::remaining
  const ShapeChoice* choice = nullptr;              // where a policy chooses shapes
  const std::vector<std::uint8_t>* left = nullptr;  // then: [slots] 1: runs, and gave what it holds back before the walk
};

/// Turns the outcomes of a walk into decisions with rates, costs and reasons. Memory is kept between plans.
class PlanBuilder {
 public:
  /// Waiting jobs that can never run: they are declined and hold nobody up. @returns [slots] 1: declined.
  const std::vector<std::uint8_t>& decline(const StateImpl& state, const kernel::ProblemView& problem, CertificateMemory& certificates);
  /// After `decline` on the same problem. @returns [options of the problem] 1: the job can never run so.
  const std::vector<std::uint8_t>& impossible(const StateImpl& state, const kernel::ProblemView& problem);
  /// After `decline` on the same problem.
  void build(const StateImpl& state, const WalkOutput& walk, Plan& plan);

 private:
  ReasonInput reason_input(const StateImpl& state, const kernel::ProblemView& problem) const;
  void place_entries(const StateImpl& state, const WalkOutput& walk, std::int32_t i, Decision& d, Plan& plan) const;
  void predict(const StateImpl& state, Decision& d, const Plan& plan, std::int64_t rate, TimeUs start) const;

  std::vector<std::int32_t> position_;                             // [slots] in the order, -1: not in it
  std::vector<std::uint8_t> declined_;                             // [slots] why; 0: not
  std::vector<std::uint8_t> impossible_;                           // [options]
  std::pair<std::uint64_t, std::uint64_t> impossible_versions_{};  // of the structure and the options that it is of
  FinalState after_;
  ReasonBuilder reasons_;
};

}  // namespace berth::core
