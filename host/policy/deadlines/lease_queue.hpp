#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/core/policy_api/policy.hpp"
#include "host/policy/base/job_column.hpp"
#include "host/policy/deadlines/capacity_line.hpp"
#include "host/policy/deadlines/lease_plan.hpp"
#include "host/policy/deadlines/lease_table.hpp"

namespace berth::policy {

struct LeaseRules {
  TimeUs lease = 60 * kSecond;
  bool published = false;      // run times are padded by the artifact's formula; else leases count the costs of changes
  bool again = false;          // jobs that were not accepted are asked at each lease boundary
  bool early_last = false;     // accepted jobs stand behind best effort before their leases
  bool rejects = false;        // jobs with hard deadlines that are not accepted
  std::int64_t replanned = 0;  // most reservations that are laid again at a boundary
};

/// Leases of Chronus (docs/genie.md). All leases begin at the multiples of their length.
class LeaseQueue final : public core::QueuePolicy {
 public:
  explicit LeaseQueue(LeaseRules rules) : rules_(rules) {}

  void keys(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<std::int64_t> out) override;
  void next_change(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<TimeUs> out) override;
  bool promises() const override { return true; }
  std::span<const core::Refusal> refused() const override { return refused_; }
  void load(const PolicyState& state) override;
  void store(PolicyState& state) const override;
  void retain(PolicyState& state, const core::LiveJobs& live) const override;

 private:
  using Jobs = std::span<const std::int32_t>;
  struct Candidate {
    std::int64_t gpus, slack;  // leases
    TimeUs deadline;
    std::int32_t job;
  };

  const std::vector<LeaseRun>& runs(std::int32_t job) const { return runs_[static_cast<std::size_t>(job)]; }
  bool accepted(std::int32_t job) const { return !runs(job).empty(); }
  bool has_lease(std::int32_t job, TimeUs now) const { return accepted(job) && runs(job).front().from <= now; }
  bool stays(const core::JobColumns& jobs, std::int32_t job) const { return jobs.running[job] != 0 && jobs.promise->stays[job] > 0; }
  TimeUs deadline(const core::JobColumns& jobs, std::int32_t job) const;
  LeaseNeed need(const core::JobColumns& jobs, std::int32_t job) const;
  Candidate candidate(const core::JobColumns& jobs, TimeUs now, std::int32_t job) const;

  void read(const core::JobColumns& jobs, TimeUs now, Jobs job_indices);
  void trim(const core::JobColumns& jobs, TimeUs now, std::int32_t job);
  bool keeps(const core::JobColumns& jobs, TimeUs now, std::int32_t job) const;
  void set_runs(const core::JobColumns& jobs, std::int32_t job, const std::vector<LeaseRun>& runs);
  void drop(const core::JobColumns& jobs, std::int32_t job);
  void lay_lines(const core::JobColumns& jobs, TimeUs now, Jobs job_indices, bool with_promises, std::vector<CapacityLine>& lines);
  void find_candidates(const core::JobColumns& jobs, TimeUs now, Jobs job_indices);
  void plan(const core::JobColumns& jobs, TimeUs now, Jobs job_indices);
  bool plan_greedily(const core::JobColumns& jobs, TimeUs now, Jobs job_indices);
  bool plan_by_program(const core::JobColumns& jobs, TimeUs now, Jobs job_indices);
  void admit(const core::JobColumns& jobs, TimeUs now);
  bool find_leases(const core::JobColumns& jobs, TimeUs now, std::int32_t job, const CapacityLine& line);
  void sort(std::vector<Candidate>& candidates, const core::JobColumns& jobs) const;
  std::int64_t key(const core::JobColumns& jobs, TimeUs now, std::int32_t job) const;

  LeaseRules rules_;
  bool boundary_ = true;    // a lease began since the last decision
  std::int64_t index_ = 0;  // of the lease in which the decision is
  std::int64_t kept_index_ = -1;
  std::vector<std::vector<LeaseRun>> runs_;        // [jobs] ascending; none: not accepted
  std::vector<std::uint8_t> seen_;                 // [jobs]
  std::vector<CapacityLine> lines_, spare_lines_;  // [GPU types]
  std::vector<std::int64_t> n_promises_;           // [GPU types]
  std::vector<Candidate> candidates_, laid_;
  std::vector<std::vector<LeaseRun>> laid_runs_;
  std::vector<LeaseRun> found_;
  std::vector<core::Refusal> refused_;
  LeaseQuestion question_;
  LeaseAnswer answer_;
  LeaseTable table_;
  JobColumn end_{"promised_end_us"};  // -1: seen, and nothing is promised; -2: a promise was broken
};

}  // namespace berth::policy
