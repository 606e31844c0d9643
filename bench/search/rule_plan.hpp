#pragma once

#include <memory>

#include "berth/plan.hpp"
#include "berth/state.hpp"
#include "host/core/backend.hpp"
#include "host/core/chosen_policy.hpp"
#include "host/core/overruns.hpp"
#include "host/core/plan_builder.hpp"
#include "host/core/plan_validator.hpp"
#include "host/core/shape_choice.hpp"
#include "host/core/walk_problem.hpp"
#include "host/core/walk_result.hpp"

namespace berth::bench {

/// Plans of rules that choose shapes and are no policies: what the engine does for one that is, on one thread of the CPU and once: choice,
/// bound, walk, reasons, validation. Memory is kept between plans of one state.
class RulePlanner {
 public:
  /// What an engine has learned of a state by one decision: which shapes are impossible.
  void warm(const ClusterState& state, const Plan& by);
  /// @param by  plan of a policy that has a bound, on the same state: with its objective and terms; the new plan goes by its name.
  /// Ends the process where the plan is not valid.
  void decide(const ClusterState& state, const Plan& by, core::ShapePolicy& rule, Plan& plan);

 private:
  core::WalkInput::Marks look(const StateImpl& state, const Plan& by);

  core::ChosenPolicy chosen_;
  std::unique_ptr<core::PlacementBackend> backend_ = core::make_cpu_backend(1);
  core::WalkProblem problem_;
  core::WalkInput input_;
  core::ShapeChoice choice_;
  core::ChoiceWalk walk_;
  core::WalkResult result_;
  core::Overruns overruns_;
  core::PlanBuilder builder_;
  core::PlanValidator validator_;
  core::CertificateMemory certificates_;
};

}  // namespace berth::bench
