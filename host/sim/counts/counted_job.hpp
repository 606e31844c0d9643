#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "berth/overheads.hpp"
#include "berth/trace.hpp"
#include "host/sim/counts/node_counts.hpp"

namespace berth::sim {

/// Position of a job in the order of one decision.
struct JobPlace {
  std::int64_t key;
  std::int32_t rank;  ///< in the trace
  std::int32_t job;
  bool operator<(const JobPlace& other) const { return order() < other.order(); }
  bool operator>(const JobPlace& other) const { return other < *this; }

 private:
  // Key and rank in one number. Comparisons are unpredictable, so the code avoids branches on them.
  __int128 order() const { return static_cast<__int128>(key) << 64 | static_cast<std::uint32_t>(rank); }
};

inline constexpr JobPlace kNoJob{INT64_MIN, -1, -1};  ///< comes before every job

/// The past of a job.
struct JobPast {
  TimeUs held = 0;                    // time with GPUs, before `held_from`
  TimeUs restarting = 0, moving = 0;  // parts of `held` without work
  TimeUs start = kNever;              // for the first time
  std::int32_t starts = 0, preemptions = 0, moves = 0;
};

/// The data of a waiting or running job in a simulation by counts.
struct CountedJob : JobPast {
  // For all jobs.
  const TraceJob* traced = nullptr;
  const ModelOverheads* overheads = nullptr;
  TimeUs submit = 0, deadline = kNever, estimate = kNever, limit = kNever;
  TimeUs left = 0;  // remaining work, as run time
  TimeUs owed = 0;  // cost of the next start
  std::int32_t rank = 0, priority = 0, gpus = 0, pool = 0;
  __int128 live_from = 0;  // sum over time of the number of jobs present, when it arrived
  // For running jobs.
  TimeUs held_from = 0, working_from = 0;
  bool moved = false;    // the cost until `working_from` is that of a move
  bool steady = false;   // its key is constant until its next change
  std::int64_t key = 0;  // key of its position in its RunningOrder
  bool running = false;
  TimeUs release = kNever;  // see ReleaseProfile
  enum class Releases : std::uint8_t { kNever, kFixed, kOverdue, kMoving } releases = Releases::kNever;

  TimeUs left_at(TimeUs now) const {
    if (!running || now <= working_from) return left;
    return std::max<TimeUs>(0, left - (now - working_from));
  }
  TimeUs held_at(TimeUs now) const { return running ? held + (now - held_from) : held; }
};

/// Jobs by index. An index is reused once its job has left.
class CountedJobs {
 public:
  CountedJob& operator[](std::int32_t job) { return jobs_[to_index(job)]; }
  const CountedJob& operator[](std::int32_t job) const { return jobs_[to_index(job)]; }
  /// GPUs of a running job. Stored apart from the jobs, so that their memory is reused.
  std::vector<CountedGpus>& taken(std::int32_t job) { return taken_[to_index(job)]; }

  std::int32_t jobs() const { return static_cast<std::int32_t>(jobs_.size()); }
  /// Adds a waiting job without a past. All other fields have the values of the former job with its index.
  std::int32_t add() {
    if (free_.empty()) {
      jobs_.emplace_back();
      taken_.emplace_back();
      return jobs() - 1;
    }
    const std::int32_t job = free_.back();
    free_.pop_back();
    static_cast<JobPast&>(jobs_[to_index(job)]) = JobPast{};
    jobs_[to_index(job)].running = false;
    return job;
  }
  void free(std::int32_t job) {
    assert(job >= 0 && job < jobs() && free_.size() < jobs_.size());
    free_.push_back(job);
  }

 private:
  std::vector<CountedJob> jobs_;
  std::vector<std::vector<CountedGpus>> taken_;  // [jobs]
  std::vector<std::int32_t> free_;
};

}  // namespace berth::sim
