#pragma once

#include <string>
#include <vector>

#include "host/core/policy_api/objective.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/policy/base/params.hpp"

/// Parameters of policies that choose shapes.
namespace berth::policy {

/// Adds the parameters of an objective and those of with_search to `own`.
std::vector<PolicyParam> with_objective(const char* objective, std::vector<PolicyParam> own = {}, const char* terms = "restart");

/// Adds the parameters of the search for prices, and those common to all policies, to `own`.
std::vector<PolicyParam> with_search(std::vector<PolicyParam> own = {});

/// Reads the parameters of with_search. @throws InvalidArgument for an invalid value.
void read_search(const Settings& settings, core::ChoiceSettings& choice);

/// The same for with_objective.
core::ChoiceSettings choice_settings(const char* policy, const core::Params& params);

}  // namespace berth::policy
