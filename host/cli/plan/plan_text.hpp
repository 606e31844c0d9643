#pragma once

#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/io/formats/plan_promises.hpp"

/// Text output of plans.
namespace berth::cli {

/// @param promises  null: nothing is promised
std::string plan_text(const ClusterState& state, const Plan& plan, const TextOptions& options, const io::Promises* promises = nullptr);
/// @returns an empty text for a job without a decision in the plan.
std::string job_text(const ClusterState& state, const Plan& plan, std::int32_t job, const io::Promises* promises = nullptr);
std::string comparison_text(const ClusterState& state, const Plan& first, const Plan& second, const TextOptions& options);
std::string comparison_json(const ClusterState& state, const Plan& first, const Plan& second);
/// Compares the plans by the objective of the first one.
std::string contest_text(const ClusterState& state, const std::vector<Plan>& plans);
std::string contest_json(const ClusterState& state, const std::vector<Plan>& plans);

}  // namespace berth::cli
