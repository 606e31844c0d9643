#pragma once

#include <cstdint>
#include <vector>

#include "berth/trace.hpp"
#include "berth/units.hpp"
#include "host/sim/counts/node_counts.hpp"

namespace berth::sim {

/// A node that fails, and returns.
struct NodeFailure {
  TimeUs at_us = kNever, back_us = kNever;
  std::int32_t node = -1;  ///< by rank
};

/// What a simulation by counts is told that begins while jobs run.
///
/// Jobs submitted before `now_us` arrive then, together. Those that run take their GPUs at once. Their `run_us` includes the time that they
/// have run for.
class ResumedJobs {
 public:
  explicit ResumedJobs(TimeUs now) : now_us(now) {}
  virtual ~ResumedJobs() = default;
  /// How long a job has run at `now_us`; below 0: it does not run then.
  virtual TimeUs held_us(const TraceJob& job) const = 0;
  /// The GPUs of a job that runs; null or empty: any will do. They matter where a reservation is for some of them.
  virtual const std::vector<CountedGpus>* gpus(const TraceJob& /*job*/) const { return nullptr; }
  /// What the policy knows of its whole run time, next to the limit; kNever: nothing. In place of `SimulationSettings::estimates`.
  virtual TimeUs estimate(const TraceJob& job) const = 0;
  /// A job starts for the first time. @returns false: the simulation may stop
  virtual bool started(const TraceJob& job, TimeUs now) = 0;
  /// How long a job runs that starts for the first time.
  virtual TimeUs run_from(const TraceJob& job, TimeUs /*now*/) { return job.run_us; }

  /// The next node that fails, by time; none has failed at that instant. Its jobs wait again, and start from their begin: as Slurm
  /// requeues them.
  virtual NodeFailure next_failure() { return {}; }

  const TimeUs now_us;
};

}  // namespace berth::sim
