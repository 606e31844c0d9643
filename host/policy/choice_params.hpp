#pragma once

#include <string>
#include <vector>

#include "host/core/objective.hpp"
#include "host/core/policy.hpp"
#include "host/policy/params.hpp"

/// Parameters of policies that choose shapes.
namespace berth::policy {

/// `own` ones, then what a plan is worth, and those of with_search.
std::vector<PolicyParam> with_objective(const char* objective, std::vector<PolicyParam> own = {}, const char* terms = "restart");

/// `own` ones, then how far to search for the prices that prove the bound, and those of all policies.
std::vector<PolicyParam> with_search(std::vector<PolicyParam> own = {});

/// Reads what with_search declares. @throws InvalidArgument for a bad value.
void read_search(const Settings& settings, core::ChoiceSettings& choice);

/// The same of with_objective.
core::ChoiceSettings choice_settings(const char* policy, const core::Params& params);

}  // namespace berth::policy
