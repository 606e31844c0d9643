#pragma once

#include <string>
#include <vector>

#include "berth/snapshot.hpp"
#include "berth/trace.hpp"

namespace berth::sim {

/// The shapes that a job of a trace states itself, for one cluster (docs/simulation-reference.md, "Jobs").
///
/// A shape without a GPU type has the job's. Without a batch it has its part of the job's.
/// Without a profile each of several shapes gets its rate: what it states, else the first shape's by GPUs, and never above it.
/// @param elastic  Whether shapes with another GPU count than the requested one are kept.
/// @returns  Those whose GPU type and levels the cluster has, in the order of the job.
std::vector<Shape> stated_shapes(const TraceJob& job, const Snapshot& cluster, bool elastic, bool has_profile);

/// Why the cluster has no place for any stated shape of the job: a GPU type or a level that it does not have. Empty: it has.
/// O(shapes * groups * domains).
std::string missing_for_shapes(const TraceJob& job, const Snapshot& cluster, bool elastic);

/// Work of a job of stated shapes without a profile: its run time at the rate of the first shape, in millionths of a second.
std::int64_t work_of_run_time(const TraceJob& job);

}  // namespace berth::sim
