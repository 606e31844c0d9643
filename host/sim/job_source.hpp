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

/// The jobs of a trace one after the other, so that a simulation holds those that live and no others.
class JobSource {
 public:
  virtual ~JobSource() = default;
  /// The next job, by (submit, id); null at the end. It stays where it is until it is released.
  virtual const TraceJob* next() = 0;
  /// The job has ended: nobody reads it again.
  virtual void release(const TraceJob& /*job*/) {}
};

/// Of a trace in memory.
class JobsOf final : public JobSource {
 public:
  explicit JobsOf(const Trace& trace) : jobs_(trace.jobs) {}
  /// @throws InvalidArgument where it does not stand behind the last one by (submit, id).
  const TraceJob* next() override;

 private:
  const std::vector<TraceJob>& jobs_;
  std::size_t at_ = 0;
};

/// Memory of jobs that are given away one by one: that of a released one is used again.
class JobRooms {
 public:
  /// What stood there stands there still.
  TraceJob& take();
  void release(const TraceJob& job);

 private:
  std::deque<TraceJob> jobs_;
  std::vector<TraceJob*> free_;
};

/// What the jobs of a trace ask for anywhere. Known before the first one comes.
struct TraceFacts {
  bool profiles = false, hard_deadlines = false, cpu = false, memory = false;
  bool any_type = false;                                ///< some job leaves the GPU type open
  std::set<std::string> queues;                         ///< that jobs name
  std::array<std::int64_t, kMaxGpusPerNode> by_gpus{};  ///< how many ask for 1, 2, ... GPUs; the last: as many or more
  void add(const TraceJob& job);
};
TraceFacts facts_of(const Trace& trace);

}  // namespace berth::sim
