#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "berth/forecast.hpp"

namespace berth::forecasts {

/// What the accounting of Slurm says, and a trace does not: how long jobs waited, and which were withdrawn before they ran.
struct PastWaits {
  struct Withdrawn {
    TimeUs submit_us = 0, waited_us = 0;  ///< submission since 1970
    std::int32_t gpus = 1;
  };
  std::unordered_map<std::string, TimeUs> wait_us;  ///< by job; of the last run of one that was requeued
  std::vector<Withdrawn> withdrawn;
};

/// Reads what `sacct -P` prints; nothing from `sacct --json`. Jobs that never ran have no GPUs allocated: the column ReqTRES says
/// how many they asked for, and without it none counts as withdrawn.
PastWaits read_past_waits(const std::string& path);

/// A job of a trace, as one of the past. Its start is not known.
/// @param shift  from the times of the trace to those of the state
PastJob past_job(const TraceJob& job, TimeUs shift);

/// The history of a trace, with the starts of its jobs where they are known.
/// @param shift  out: from the times of the trace to those of the state
JobHistory history_of_starts(const Trace& trace, const ClusterState& state, const std::vector<TimeUs>& starts, TimeUs& shift);
/// The history of a trace, with those waits.
JobHistory history_with(const PastWaits& waits, const Trace& trace, const ClusterState& state);

}  // namespace berth::forecasts
