#pragma once

#include "berth/plan.hpp"
#include "host/core/base/violations.hpp"

namespace berth {
class StateImpl;
}

/// Checks figures of a plan that the state determines. They reveal a plan that was written by hand, changed, or made
/// for another state. Invalid indices are skipped; PlanValidator reports them.
namespace berth::core {

/// Revision, policy, parameters, tables, extent of the pass, and the proof.
void check_header(const StateImpl& state, const Plan& plan, Violations& found);
/// Rates, ends and costs. PlanValidator checks batches, except those of jobs without GPUs.
void check_predictions(const StateImpl& state, const Plan& plan, Violations& found);
/// The bound from its prices, and the objective value of the plan.
void check_bound(const StateImpl& state, const Plan& plan, Violations& found);
/// Reasons: their indices exist, they name the required jobs and queues, and their numbers match the code.
void check_evidence(const StateImpl& state, const Plan& plan, Violations& found);
/// Whether reasons may be about other demands than jobs state (docs/placement.md, section 10).
bool narrows_demands(const Plan& plan);

}  // namespace berth::core
