#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "berth/trace.hpp"

namespace berth::sim {

/// The jobs of a trace in sequence, so that a simulation holds only the jobs that are waiting or running.
class JobSource {
 public:
  virtual ~JobSource() = default;
  /// The next job, by (submit, id); null at the end. The pointer is valid until the job is released.
  virtual const TraceJob* next() = 0;
  /// The job has ended and is not read again.
  virtual void release(const TraceJob& /*job*/) {}
};

/// The jobs of a trace in memory.
class JobsOf final : public JobSource {
 public:
  explicit JobsOf(const Trace& trace) : jobs_(trace.jobs) {}
  /// @throws InvalidArgument when the job does not come after the last one by (submit, id).
  const TraceJob* next() override;

 private:
  const std::vector<TraceJob>& jobs_;
  std::size_t at_ = 0;
};

/// Memory for jobs that are released one by one; the memory of a released job is reused.
class JobRooms {
 public:
  /// The object keeps its former content.
  TraceJob& take();
  void release(const TraceJob& job);

 private:
  std::deque<TraceJob> jobs_;
  std::vector<TraceJob*> free_;
};

/// What the jobs of a trace request in total. Known before the first job comes.
struct TraceFacts {
  bool deadline_steps = false;  ///< some deadline has later steps
  bool profiles = false, hard_deadlines = false, cpu = false, memory = false;
  bool waits = false;                                   ///< some job states how long it waits for a level
  bool shapes = false;                                  ///< some job states its shapes or groups
  bool any_type = false;                                ///< some job leaves the GPU type open
  TimeUs longest_grace_us = 0;                          ///< that a displaced job has to stop
  std::set<std::string> queues;                         ///< named by jobs
  std::array<std::int64_t, kMaxGpusPerNode> by_gpus{};  ///< number of jobs that request 1, 2, ... GPUs; the last: at least that many
  void add(const TraceJob& job);
};
TraceFacts facts_of(const Trace& trace);

}  // namespace berth::sim
