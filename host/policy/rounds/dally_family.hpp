#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "host/core/policy_api/policy.hpp"
#include "host/policy/base/params.hpp"

/// The order of Dally (host/policy/rounds/dally.cpp) and its leases, for the policies that differ from it in their timers.
namespace berth::policy {

/// @param settings  With the parameters `dally_leases`. @throws InvalidArgument for an invalid value of these.
std::unique_ptr<core::QueuePolicy> dally_order(const Settings& settings);
TimeUs dally_lease(const Settings& settings);
std::vector<PolicyParam> dally_leases();

/// Without timers: lease and its end.
core::DelayRule dally_rule(const Settings& settings);
/// Fixed timers, the same for all levels. kNever: a gang never goes beyond the lowest level that could hold it.
std::optional<core::DelayRule> dally_timers(const Settings& settings, TimeUs timer);

}  // namespace berth::policy
