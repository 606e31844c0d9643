#pragma once

#include <memory>
#include <vector>

#include "host/core/policy.hpp"
#include "host/policy/params.hpp"

/// The queues of 2D-LAS (host/policy/las.cpp), for policies that have the same order and something more.
namespace berth::policy {

/// @param settings  have `las_parameters`. @throws InvalidArgument for a bad value of those.
std::unique_ptr<core::QueuePolicy> las_queues(const Settings& settings);

std::vector<PolicyParam> las_parameters();

}  // namespace berth::policy
