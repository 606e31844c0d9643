#pragma once

#include <memory>

#include "berth/plan.hpp"
#include "berth/state.hpp"
#include "host/backend/backend.hpp"
#include "host/core/choice/shape_problem.hpp"
#include "host/core/engine/plan_builder.hpp"
#include "host/core/placement/overruns.hpp"
#include "host/core/placement/pass_problem.hpp"
#include "host/core/placement/pass_result.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/core/validator/plan_validator.hpp"

namespace berth::bench {

/// Plans of rules that choose shapes and are not policies. It does once, on one CPU thread, what the engine does for a
/// policy: choice, bound, pass, reasons, validation. Memory is kept between plans of one state.
class RulePlanner {
 public:
  /// Caches what an engine knows of a state after one decision: which options are impossible.
  void warm(const ClusterState& state, const Plan& by);
  /// @param by  plan of a policy with a bound, on the same state: the new plan uses its objective, terms and name. Ends
  /// the process where the plan is invalid.
  void decide(const ClusterState& state, const Plan& by, core::ShapePolicy& rule, Plan& plan);

 private:
  core::PassInput::Marks look(const StateImpl& state, const Plan& by);

  core::ChosenPolicy chosen_;
  std::unique_ptr<core::PlacementBackend> backend_ = core::make_cpu_backend(1);
  core::PassProblem problem_;
  core::PassInput input_;
  core::ShapeProblem choice_;
  core::TightPlaces places_;
  core::ShapePass pass_;
  core::PassResult result_;
  core::Overruns overruns_;
  core::PlanBuilder builder_;
  core::PlanValidator validator_;
  core::CertificateMemory certificates_;
};

}  // namespace berth::bench
