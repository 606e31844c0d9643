#pragma once

#include <memory>
#include <vector>

#include "host/core/policy_api/policy.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/policy/base/choice_params.hpp"

/// Gavel (OSDI'20): shares of time on each GPU type by a linear program (docs/shares.md), and rounds that give them.
/// This is the common part of its policies.
namespace berth::policy {

/// The measure of the worst-off job.
enum class FairBy {
  kSpeed,       // least attained service: weighted speed relative to that of an equal part of the cluster
  kFinishTime,  // finish-time fairness: total time relative to that in a cluster of its own, 1 / n of this one
  kRunTime,     // makespan: time until the end
};

/// What differs between the policies.
struct GavelRule {
  const char* policy;
  const char* text;
  FairBy fair_by;
};

std::vector<PolicyParam> gavel_params();
std::unique_ptr<core::ShapePolicy> gavel_shapes(const GavelRule& rule, const core::Params& params);

/// A template, because an entry has plain functions, which cannot receive their policy otherwise.
template <const GavelRule& kRule>
core::PolicyEntry gavel_entry() {
  return {.info = {.name = kRule.policy, .rule = kRule.text, .source = "Gavel (OSDI'20)", .params = gavel_params()},
          .preemptive = true,
          .choice = [](const core::Params& params) { return choice_settings(kRule.policy, params); },
          .shapes = [](const core::Params& params) { return gavel_shapes(kRule, params); },
          .leaves_idle = "a job runs in one shape on each GPU type"};
}

}  // namespace berth::policy
