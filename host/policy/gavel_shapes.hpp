#pragma once

#include <memory>
#include <vector>

#include "host/core/policy.hpp"
#include "host/core/shape_policy.hpp"

/// Gavel (OSDI'20): shares of the time on each GPU type by a linear programme (docs/shares.md), and rounds that give them. What its
/// policies have in common.
namespace berth::policy {

/// What the job that fares worst fares by.
enum class FairBy {
  kSpeed,       // least attained service: speed over that of an equal part of the cluster, by weight
  kFinishTime,  // finish-time fairness: time in all over that in a cluster of its own, 1 / n of this one
  kRunTime,     // makespan: time until the end
};

std::vector<PolicyParam> gavel_params();
std::unique_ptr<core::ShapePolicy> gavel_shapes(const char* policy, FairBy fair_by, const core::Params& params);

}  // namespace berth::policy
