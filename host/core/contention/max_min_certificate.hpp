#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "host/core/contention/max_min_flow.hpp"

namespace berth::core {

/// Checks that levels are the max-min fair ones, without filling: no link carries more than its capacity, every flow is
/// at its demand or has a saturated link on which no flow has a higher level, and no flow took what a lower level left over.
/// Only the result of `max_min_levels` passes: docs/contention.md.
/// O(rows log rows).
/// @returns empty, or what is wrong: "link 3 carries more than its capacity"
std::string max_min_violation(std::span<const std::int64_t> capacity, std::span<const MaxMinFlow> flows,
                              std::span<const std::int64_t> levels);

}  // namespace berth::core
