#pragma once

#include <memory>
#include <vector>

#include "host/core/policy_api/policy.hpp"
#include "host/policy/base/params.hpp"

/// The queues of 2D-LAS (host/policy/queue/las.cpp), for policies that extend this order.
namespace berth::policy {

/// @param settings  With the parameters `las_parameters`. @throws InvalidArgument for an invalid value of these.
std::unique_ptr<core::QueuePolicy> las_queues(const Settings& settings);

std::vector<PolicyParam> las_parameters();

}  // namespace berth::policy
