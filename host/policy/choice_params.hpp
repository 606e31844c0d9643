#pragma once

#include <string>
#include <vector>

#include "host/core/objective.hpp"
#include "host/core/policy.hpp"

/// Parameters of policies that choose shapes.
namespace berth::policy {

/// `own` ones, then what a plan is worth, how far to search for the prices that prove it, and those of all policies.
std::vector<PolicyParam> with_objective(const char* objective, std::vector<PolicyParam> own = {});

/// Reads them. @throws InvalidArgument for a bad value.
core::ChoiceSettings choice_settings(const char* policy, const core::Params& params);

}  // namespace berth::policy
