#pragma once

#include <memory>
#include <vector>

#include "host/core/policy.hpp"
#include "host/core/shape_policy.hpp"
#include "host/policy/choice_params.hpp"

/// Gavel (OSDI'20): shares of the time on each GPU type by a linear programme (docs/shares.md), and rounds that give them. What its
/// policies have in common.
namespace berth::policy {

/// What the job that fares worst fares by.
enum class FairBy {
  kSpeed,       // least attained service: speed over that of an equal part of the cluster, by weight
  kFinishTime,  // finish-time fairness: time in all over that in a cluster of its own, 1 / n of this one
  kRunTime,     // makespan: time until the end
};

/// What is a policy's own.
struct GavelRule {
  const char* policy;
  const char* text;
  FairBy fair_by;
};

std::vector<PolicyParam> gavel_params();
std::unique_ptr<core::ShapePolicy> gavel_shapes(const GavelRule& rule, const core::Params& params);

/// A template, as an entry holds plain functions, which cannot be told their policy otherwise.
template <const GavelRule& kRule>
core::PolicyEntry gavel_entry() {
  return {{kRule.policy, kRule.text, "Gavel (OSDI'20)", "skip", true, gavel_params()},
          kernel::Discipline::kSkip,
          true,
          false,
          nullptr,
          [](const core::Params& params) { return choice_settings(kRule.policy, params); },
          [](const core::Params& params) { return gavel_shapes(kRule, params); }};
}

}  // namespace berth::policy
