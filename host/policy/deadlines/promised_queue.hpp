#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/core/policy_api/policy.hpp"
#include "host/policy/base/job_column.hpp"
#include "host/policy/base/params.hpp"
#include "host/policy/deadlines/capacity_line.hpp"
#include "host/policy/deadlines/expected_demand.hpp"

namespace berth::policy {

struct PromiseRules {
  /// Order of jobs with a promise whose reserved time has not come, and whose deadline is in reach without one.
  enum class Order : std::uint8_t { kDeadline, kAllowance, kCost };
  Order promised = Order::kDeadline, unpromised = Order::kCost;
  bool keeps = false;             // jobs with a promise that run are not displaced by others whose reservation has not begun
  bool mixes = false;             // jobs without a deadline stand among those that have one and no promise, by the GPU-time left
  bool rejects = false;           // jobs with hard deadlines that get no promise at once
  std::int64_t expected_ppm = 0;  // of the expected demand, which is left free
  TimeUs least_span = 0;          // over which that demand is a mean
  std::int64_t laid_again = 0;    // most reservations that are moved for another one
};

/// The parameters that those rules have, and the rules that they stand for.
std::vector<PolicyParam> promise_parameters();
PromiseRules promise_rules(const Settings& settings);
/// PolicyEntry::sharing of such a policy.
std::int64_t promise_sharing(const Settings& settings);

/// A queue that promises deadlines (docs/genie.md).
///
/// A promise is a reservation: GPUs of one type from an instant on until another one, at most the deadline, for as long as the job
/// needs wherever it runs. The reservations of a type never need more GPUs than its nodes have. A job may run before its
/// reservation begins, with GPUs that others leave; then less is left to do, and the reservation begins later. Once it has begun the job
/// comes before all jobs without one, and nothing displaces it.
class PromisedQueue : public core::QueuePolicy {
 public:
  explicit PromisedQueue(PromiseRules rules) : rules_(rules) {}

  void keys(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<std::int64_t> out) override;
  void next_change(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<TimeUs> out) override;
  bool promises() const override { return true; }
  std::span<const core::Refusal> refused() const override { return refused_; }
  void load(const PolicyState& state) override;
  void store(PolicyState& state) const override;
  void retain(PolicyState& state, const core::LiveJobs& live) const override;

 private:
  struct Promise {
    TimeUs end = -1;       // -1: none
    TimeUs from = -1;      // the reservation begins
    TimeUs deadline = -1;  // of the step that is promised: the first that is not before the end
    bool seen = false;
    bool tried = false;  // others were to be moved for it in this decision
  };
  struct Candidate {
    std::int64_t cost;  // GPU-time for a unit of value
    TimeUs submit;
    std::int32_t job;
    DeadlineStep step;
  };

  void read_promises(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices);
  void lay_lines(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices);
  void admit(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices);
  bool lay_again(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::int32_t job);
  bool lay(const core::JobColumns& jobs, std::int32_t job, CapacityLine& line);
  void promise(const core::JobColumns& jobs, std::int32_t job, TimeUs end);
  bool try_step(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, const Candidate& one);
  std::int64_t within(PromiseRules::Order order, const core::JobColumns& jobs, TimeUs now, std::int32_t job,
                      const DeadlineStep& step) const;
  void drop(const core::JobColumns& jobs, std::int32_t job);
  std::int64_t key(const core::JobColumns& jobs, TimeUs now, std::int32_t job) const;
  bool has_promise(std::int32_t job) const { return promises_[static_cast<std::size_t>(job)].end >= 0; }

  PromiseRules rules_;
  std::vector<Promise> promises_;         // [jobs]
  std::vector<CapacityLine> lines_;       // [GPU types]
  std::vector<std::int64_t> n_promises_;  // [GPU types]
  std::vector<Candidate> candidates_;
  int tries_ = 0;                   // jobs for which reservations were to be moved in this decision
  std::vector<std::int32_t> laid_;  // jobs whose reservations are laid again
  std::vector<TimeUs> laid_end_;    // the same
  CapacityLine spare_line_;
  std::vector<core::Refusal> refused_;
  ExpectedDemand expected_;
  JobColumn end_{"promised_end_us"};    // -1: seen, and nothing is promised; -2: a promise was broken
  JobColumn step_{"promised_step_us"};  // of a deadline in several steps the one that was promised: no later one is after that
  JobColumn need_{"promised_need_us"};  // what the job was to need when the promise was given
};

}  // namespace berth::policy
