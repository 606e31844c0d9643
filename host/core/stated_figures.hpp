#pragma once

#include "berth/plan.hpp"
#include "host/core/violations.hpp"

namespace berth {
class StateImpl;
}

/// What a plan states beyond who gets what, where the state determines it: a plan that was written by hand, changed, or made for
/// another state shows here. Indices that do not exist are passed over; PlanValidator names them.
namespace berth::core {

/// Revision, policy, parameters, tables, how far the walk came, and the proof.
void check_header(const StateImpl& state, const Plan& plan, Violations& found);
/// Rates, ends and costs; batches are PlanValidator's, but for those of jobs without GPUs.
void check_predictions(const StateImpl& state, const Plan& plan, Violations& found);
/// The bound from its prices, and what the plan is worth.
void check_bound(const StateImpl& state, const Plan& plan, Violations& found);
/// Reasons: their indices exist, they name the jobs and queues that they must, and their numbers say what the code says.
void check_evidence(const StateImpl& state, const Plan& plan, Violations& found);

}  // namespace berth::core
