#pragma once

#include "host/core/policy_api/policy.hpp"

namespace berth::core {

/// The shapes in which a queue policy tries a job, and their order (docs/policies-reference.md, "The shape of a job").
enum class ShapeRule { kRequested, kLeastGpuTime, kLargest };

/// The parameter `shape` of a queue policy. Where a policy chooses shapes, a job is tried as that policy says.
/// @throws InvalidArgument for a bad value.
ShapeRule shape_rule(const PolicyEntry& entry, const Params& params);

}  // namespace berth::core
