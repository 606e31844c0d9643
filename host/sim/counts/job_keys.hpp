#pragma once

#include <cstdint>

#include "host/core/base/wide.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/sim/counts/counted_job.hpp"

namespace berth::sim {

/// Evaluates a policy for one job at a time, with columns of one row.
class JobKeys {
 public:
  /// @param oracle  The remaining run time is known, instead of estimated when the job came.
  JobKeys(core::QueuePolicy& policy, bool oracle) : policy_(policy), oracle_(oracle) {}
  JobKeys(const JobKeys&) = delete;
  JobKeys& operator=(const JobKeys&) = delete;

  std::int64_t key(const CountedJob& job, TimeUs now) {
    read(job, now);
    std::int64_t key = 0;
    policy_.keys(columns_, now, {&kRow, 1}, {&key, 1});
    return key;
  }
  /// See core::QueuePolicy::next_change.
  TimeUs next_change(const CountedJob& job, TimeUs now) {
    read(job, now);
    TimeUs next = kNever;
    policy_.next_change(columns_, now, {&kRow, 1}, {&next, 1});
    return next;
  }

 private:
  static constexpr std::int32_t kRow = 0;

  void read(const CountedJob& job, TimeUs now) {
    const TimeUs held = job.held_at(now);
    submit_ = job.submit;
    priority_ = job.priority;
    gpus_ = job.gpus;
    estimate_ = job.estimate;
    remaining_ = job.estimate == kNever ? kNever : std::max<TimeUs>(1, oracle_ ? job.left_at(now) : job.estimate - held);
    attained_ = core::saturating_mul(held, job.gpus);
    deadline_ = job.deadline;
    running_ = job.running ? 1 : 0;
    id_ = &job.traced->id;
  }

  core::QueuePolicy& policy_;
  bool oracle_;
  TimeUs submit_ = 0, estimate_ = 0, remaining_ = 0, deadline_ = 0;
  std::int32_t priority_ = 0, gpus_ = 1;
  std::int64_t attained_ = 0;
  std::uint8_t running_ = 0;
  const std::string* id_ = nullptr;
  const core::JobColumns columns_{&submit_, &priority_, &gpus_, &estimate_, &remaining_, &attained_, &deadline_, &running_, &id_, nullptr};
};

}  // namespace berth::sim
