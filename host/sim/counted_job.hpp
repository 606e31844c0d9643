#pragma once

#include <algorithm>
#include <cstdint>

#include <vector>

#include "berth/overheads.hpp"
#include "berth/trace.hpp"
#include "host/core/at.hpp"
#include "host/sim/node_counts.hpp"

namespace berth::sim {

/// A job's place in the order of one decision.
struct JobPlace {
  std::int64_t key;
  std::int32_t rank;  ///< in the trace
  std::int32_t slot;
  bool operator<(const JobPlace& other) const { return order() < other.order(); }
  bool operator>(const JobPlace& other) const { return other < *this; }

 private:
  // Key and rank in one number: which of two is less cannot be foretold, so nothing should depend on a guess.
  __int128 order() const { return static_cast<__int128>(key) << 64 | static_cast<std::uint32_t>(rank); }
};

inline constexpr JobPlace kNobody{INT64_MIN, -1, -1};  ///< stands before everybody

/// What a job has had so far.
struct JobPast {
  TimeUs held = 0;                    // with GPUs, before `held_from`
  TimeUs restarting = 0, moving = 0;  // of it, without work
  TimeUs start = kNever;              // for the first time
  std::int32_t starts = 0, preemptions = 0, moves = 0;
};

/// What a simulation by counts keeps of a job that waits or runs.
struct CountedJob : JobPast {
  // Of all jobs.
  const TraceJob* traced = nullptr;
  const ModelOverheads* overheads = nullptr;
  TimeUs submit = 0, deadline = kNever, estimate = kNever;
  TimeUs left = 0;  // work, as run time
  TimeUs owed = 0;  // what starting costs, next time
  std::int32_t rank = 0, priority = 0, gpus = 0, pool = 0, line = 0;
  __int128 live_from = 0;  // jobs that had been there, summed over time, when it came
  // Of one that runs.
  TimeUs held_from = 0, working_from = 0;
  bool moved = false;    // what it pays until `working_from` is for that
  bool steady = false;   // its key stays until its next change
  std::int64_t key = 0;  // by which it stands in its RunningOrder
  bool running = false;

  TimeUs left_at(TimeUs now) const {
    if (!running || now <= working_from) return left;
    return std::max<TimeUs>(0, left - (now - working_from));
  }
  TimeUs held_at(TimeUs now) const { return running ? held + (now - held_from) : held; }
};

/// Jobs by slot. A slot is used again once its job has left.
class CountedJobs {
 public:
  CountedJob& operator[](std::int32_t slot) { return jobs_[at(slot)]; }
  const CountedJob& operator[](std::int32_t slot) const { return jobs_[at(slot)]; }
  /// GPUs of a job that runs. Beside the jobs, as their memory outlives them.
  std::vector<CountedGpus>& taken(std::int32_t slot) { return taken_[at(slot)]; }

  std::int32_t slots() const { return static_cast<std::int32_t>(jobs_.size()); }
  /// A job with no past that does not run. All else is as whoever had its slot left it.
  std::int32_t add() {
    if (free_.empty()) {
      jobs_.emplace_back();
      taken_.emplace_back();
      return slots() - 1;
    }
    const std::int32_t slot = free_.back();
    free_.pop_back();
    static_cast<JobPast&>(jobs_[at(slot)]) = JobPast{};
    jobs_[at(slot)].running = false;
    return slot;
  }
  void free(std::int32_t slot) { free_.push_back(slot); }

 private:
  std::vector<CountedJob> jobs_;
  std::vector<std::vector<CountedGpus>> taken_;  // [slots]
  std::vector<std::int32_t> free_;
};

}  // namespace berth::sim
