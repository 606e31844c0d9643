#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "host/report/html/configurations.hpp"
#include "host/sim/measures/series.hpp"

namespace berth::report {

/// Where the GPU-time of a run went: each microsecond of each GPU, from the first submission to the last end, in one part.
struct GpuTimePart {
  const char* key;
  const char* label;
  const char* about;
};

inline constexpr std::array<GpuTimePart, 10> kGpuTimeParts{{
    {"work", "work", "jobs worked"},
    {"restart", "restarts", "starting, and starting again after a preemption or a failure"},
    {"move", "migrations", "migrations and resizes"},
    {"checkpoint", "checkpoints", "saving while running"},
    {"stalled", "stalled", "without all of its GPUs, until the next decision"},
    {"lost_work", "lost work", "work lost by a failure"},
    {"idle", "idle in jobs", "not computing, where iterations are followed"},
    {"fragmented", "fragmented", "free, but of no use where they are"},
    {"free", "free", "free, and of use"},
    {"down", "down", "failed, drained or reclaimed"},
}};

using GpuTimeParts = std::array<std::int64_t, kGpuTimeParts.size()>;

/// Microseconds of one GPU by part. Means of the series are rounded down by up to a millionth of a GPU.
GpuTimeParts gpu_time_of(const ReportRun& run, const std::map<std::string, std::int64_t>& losses, const std::vector<sim::Sample>& series);

/// The mean over runs.
GpuTimeParts mean_gpu_time(const std::vector<GpuTimeParts>& all);

}  // namespace berth::report
