#pragma once

#include <string>
#include <vector>

#include "host/core/policy_api/policy.hpp"

namespace berth::testing {

/// A job as queue policies see it.
struct PolicyJob {
  std::string id = "j";
  TimeUs submit = 0;
  std::int32_t priority = 0;
  std::int32_t gpus = 1;
  TimeUs estimate = kNever;
  TimeUs remaining = kNever;
  std::int64_t attained_gpu_us = 0;
  TimeUs deadline = kNever;
  bool running = false;
  TimeUs waiting_since = kNever;
  TimeUs assigned = kNever;
  TimeUs run = 0;
  TimeUs ideal_run = 0;
};

/// Evaluates a policy for all jobs at once.
class PolicyJobs {
 public:
  explicit PolicyJobs(std::vector<PolicyJob> jobs, std::int64_t cluster_gpus = 0) : jobs_(std::move(jobs)), cluster_gpus_(cluster_gpus) {
    for (const PolicyJob& job : jobs_) {
      indices_.push_back(static_cast<std::int32_t>(indices_.size()));
      submit_.push_back(job.submit);
      priority_.push_back(job.priority);
      gpus_.push_back(job.gpus);
      estimate_.push_back(job.estimate);
      remaining_.push_back(job.remaining);
      attained_.push_back(job.attained_gpu_us);
      deadline_.push_back(job.deadline);
      running_.push_back(job.running ? 1 : 0);
      id_.push_back(&job.id);
      waiting_since_.push_back(job.waiting_since);
      assigned_.push_back(job.assigned);
      run_.push_back(job.run);
      ideal_run_.push_back(job.ideal_run);
      step_begin_.push_back(static_cast<std::int32_t>(steps_.size()));
      if (job.deadline != kNever) steps_.push_back({job.deadline, 1});
      step_end_.push_back(static_cast<std::int32_t>(steps_.size()));
      hard_.push_back(0);
      type_.push_back(0);
      held_gpus_.push_back(job.gpus);
      stays_.push_back(0);
      cost_.push_back(0);
    }
    type_gpus_.push_back(cluster_gpus);
    promise_ = {step_begin_.data(), step_end_.data(), steps_.data(), hard_.data(), type_.data(),      held_gpus_.data(),
                remaining_.data(),  cost_.data(),     stays_.data(), type_.data(), remaining_.data(), type_gpus_};
  }
  PolicyJobs(const PolicyJobs&) = delete;
  PolicyJobs& operator=(const PolicyJobs&) = delete;

  std::vector<std::int64_t> keys(core::QueuePolicy& policy, TimeUs now = 0) const {
    std::vector<std::int64_t> out(jobs_.size(), -77);
    policy.keys(columns(), now, indices_, out);
    return out;
  }
  std::vector<TimeUs> next_change(core::QueuePolicy& policy, TimeUs now = 0) const {
    std::vector<TimeUs> out(jobs_.size(), -77);
    policy.next_change(columns(), now, indices_, out);
    return out;
  }

 private:
  core::JobColumns columns() const {
    core::JobColumns columns{submit_.data(),   priority_.data(), gpus_.data(), estimate_.data(),      remaining_.data(), attained_.data(),
                             deadline_.data(), running_.data(),  id_.data(),   waiting_since_.data(), assigned_.data(),  cluster_gpus_};
    columns.run = run_.data();
    columns.ideal_run = ideal_run_.data();
    columns.promise = &promise_;
    return columns;
  }

  std::vector<PolicyJob> jobs_;
  std::vector<std::int32_t> indices_, priority_, gpus_;
  std::vector<TimeUs> submit_, estimate_, remaining_, attained_, deadline_, waiting_since_, assigned_, run_, ideal_run_;
  std::vector<std::uint8_t> running_;
  std::vector<const std::string*> id_;
  std::int64_t cluster_gpus_;
  // Any GPUs of one type will do, and every job may be displaced.
  std::vector<std::int64_t> held_gpus_, type_gpus_;
  std::vector<DeadlineStep> steps_;
  std::vector<std::int32_t> step_begin_, step_end_;
  std::vector<std::uint8_t> hard_;
  std::vector<std::int32_t> type_;
  std::vector<TimeUs> stays_, cost_;
  core::PromiseColumns promise_{};
};

}  // namespace berth::testing
