#pragma once

#include <string>
#include <vector>

#include "berth/trace.hpp"
#include "host/core/base/input_location.hpp"

namespace berth::io {

/// Gives a job the one shape that the short form `groups` stands for: its GPUs, its GPU type and these groups.
/// @throws InputError with a pointer from the job on, and without a line, as `check_trace_shapes`.
void set_groups(TraceJob& job, std::vector<Group> groups, const std::string& file);

/// Checks the shapes of a job of a trace as those of a snapshot, except that no cluster is known: any level and GPU type may exist.
/// The first shape has the GPU count and type of the job. The traffic of a step fits into kMaxBytes.
/// @throws InputError under `where`. O(groups log groups).
void check_trace_shapes(const TraceJob& job, const core::InputLocation& where);

}  // namespace berth::io
