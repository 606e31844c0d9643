#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/backend/backend.hpp"
#include "host/core/placement/admission.hpp"
#include "host/core/placement/delay_timers.hpp"
#include "host/core/placement/failures.hpp"
#include "host/core/placement/ordering.hpp"
#include "host/core/placement/promise_table.hpp"
#include "host/core/placement/stuck_jobs.hpp"
#include "host/core/placement/tried_options.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/quota/lowered_limits.hpp"
#include "host/core/quota/quota_order.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// Builds the order of a decision and the columns of its PlaceRequest. Memory is kept between decisions.
class PassInput {
 public:
  /// What this decision knows about jobs before placement; all by job index.
  struct Marks {
    const std::vector<std::uint8_t>& lost;      // 1: runs on failed GPUs and was not repaired: treated as waiting
    const Failures& failures;                   // a job that was repaired must not be displaced in the same decision
    const std::vector<std::uint8_t>& rejected;  // 1: can never run: left out
    // [options of the problem] 1: the job can never run so on any existing GPUs. Only for policies that choose shapes;
    // else empty.
    std::span<const std::uint8_t> impossible{};
  };

  /// Keys of all jobs that the policy orders, and their order, without those that it refuses. Preemptive policies order running jobs too.
  /// @param of  only these jobs of the state; empty: all
  void order(const StateImpl& state, const PolicyEntry& entry, QueuePolicy& policy, const PolicyState& policy_state, const Marks& marks,
             const TriedOptions& tried, const PassRules& rules, std::span<const std::int32_t> of = {});
  /// After `order`: jobs within the quota of their queue come first, and displace jobs that borrow (docs/quotas.md).
  /// @param problem  with the options that are tried
  void arrange(const StateImpl& state, const PolicyEntry& entry, Quotas quotas, const Marks& marks, const kernel::ProblemView& problem,
               const FindVictims& find);
  /// Undoes `arrange`, for another one.
  void disarrange() {
    if (reclaims_) order_ = unarranged_;
    reclaims_ = false;
  }
  /// After `arrange` where jobs may be displaced for quotas: puts the job at this position first among those of its standing, but behind
  /// those that need as much in one place. The next request lets it displace all behind it. @param problem  with the jobs' own options
  /// @returns [positions] the new position of each job. Valid until the next call
  std::span<const std::int32_t> put_first(const kernel::ProblemView& problem, StuckJobs& stuck, std::int32_t position);
  /// Undoes `put_first`, for the next request.
  void put_back();
  /// Whether jobs may be displaced for quotas in that order, and when the first that borrows may be; kNever: none later.
  bool reclaims() const { return reclaims_; }
  const QuotaOrder& quotas() const { return quotas_; }
  /// Waiting jobs that the policy left out of the last `order`.
  std::span<const Refusal> refusals() const { return refusals_; }
  /// Only computes `remaining`, for a choice of shapes.
  void look(const StateImpl& state);
  /// Sets the columns of all jobs, and an order in which a pass was made elsewhere.
  void look(const StateImpl& state, const std::vector<std::int32_t>& order);
  /// Stores what the policy keeps for the next decision. The state of `order` must be unchanged.
  /// @param left  see LiveJobs::left
  static void keep(const StateImpl& state, const QueuePolicy& policy, PolicyState& policy_state, const std::vector<std::string>* left);
  /// An order from the caller, most important first, without rejected jobs and without running jobs that cannot be
  /// displaced.
  void order(const std::vector<std::int32_t>& jobs) {
    order_ = jobs;
    refusals_.clear();
    reclaims_ = false;
    off_ends_.clear();
  }
  /// The jobs of the last `order`, most important first.
  std::span<const std::int32_t> ordered() const { return order_; }
  /// [jobs of the state] run time left now, of a waiting job in the option that is tried first; by the last `order` of a
  /// policy, or `look`.
  const std::vector<TimeUs>& remaining() const { return remaining_; }
  /// First instant at which a key of that order changes by itself once the plan is applied: Plan::order_until_us.
  /// @param movers  where jobs go elsewhere when their lease ends: says which ones could; null: they do not
  TimeUs order_until(const StateImpl& state, const PolicyEntry& entry, QueuePolicy& policy, const kernel::PlaceResult& answer,
                     DelayTimers* movers);
  /// By position in the order: when the key of a job changes, after `order_until` of a policy that orders running jobs.
  std::span<const TimeUs> changes() const { return batch_; }
  /// From now on these jobs take no node with an end, until jobs are ordered again. @returns whether one of them is new
  bool keep_off_ends(std::span<const std::int32_t> jobs);
  /// [options of the problem] of the last `request`.
  const TimeUs* option_run() const { return option_run_.data(); }
  /// The rest of the request. `taken` are GPUs that its pass does not have. @param tried  null: jobs are tried in all options
  kernel::PlaceRequest request(const StateView& view, const PolicyEntry& entry, const PassRules& rules, const Marks& marks,
                               std::int64_t max_iterations, std::span<const kernel::TakenRow> taken = {},
                               const TriedOptions* tried = nullptr);
  /// [options of the problem] as PlaceRequest has it, where the ordered jobs are tried in other options than by `request`.
  const std::uint8_t* may_displace(const StateImpl& state, const PassRules& rules, const kernel::ProblemView& problem);
  /// [n of the last `request`] 1: a job that runs and was added for quotas. Null: none was. It does not count as an iteration.
  const std::uint8_t* added() const { return adds_ ? running_.data() : nullptr; }
  /// How many jobs before a position count as iterations.
  std::int32_t iterations(std::int32_t position) const;
  /// Ends a pass of that request: with admission by counts the other jobs leave or wait. The request then names all jobs as tried.
  void settle(kernel::PlaceRequest& request, const kernel::PlaceResult& result) const;

 private:
  bool stands_loose(const StateImpl& state, DelayTimers& timers, const kernel::PlaceResult& answer, std::int32_t i) const;
  void read_history(const StateImpl& state);
  void look_at_cluster(const StateImpl& state);
  void look_at_progress(const StateImpl& state);
  void count_shared_gpus(const StateImpl& state);
  JobColumns columns(const StateImpl& state) const;
  std::int32_t position_after(std::int64_t n_iterations) const;
  void release_events(const StateImpl& state, const Marks& marks);

  std::vector<std::int32_t> jobs_, order_;
  std::vector<std::int32_t> unarranged_;  // the order before quotas changed it
  std::vector<std::int64_t> keys_;        // by job index
  std::vector<std::int64_t> batch_;       // by index in jobs_
  std::vector<TimeUs> remaining_, option_run_;
  bool has_run_times_ = false;  // else all of `option_run_` are kNever
  std::vector<std::int32_t> off_ends_;
  std::vector<std::int64_t> attained_;
  std::vector<TimeUs> waiting_since_, assigned_;
  std::vector<std::int32_t> gpus_;  // where jobs share by predicted interference: JobColumns::gpus, with each shared GPU as one
  std::int64_t cluster_gpus_ = 0;
  std::vector<TimeUs> run_, ideal_run_;
  /// Of a job, as long as its description and the cluster stay.
  struct IdealRate {
    std::uint64_t job = 0;  // version
    std::int64_t rate = 0;
    TimeUs rests_at = -1;  // a waiting job that has run for this time
    TimeUs run = 0;        // then: JobColumns::ideal_run
  };
  std::vector<IdealRate> ideal_rates_;  // [jobs of the state]
  std::uint64_t ideal_cluster_ = 0;     // StateImpl::cluster_version of them
  std::vector<std::uint8_t> running_, victim_ok_;
  std::vector<std::uint8_t> refused_;    // by job index
  std::vector<std::uint8_t> runs_then_;  // by job index
  std::vector<std::int32_t> gpus_then_;
  std::vector<kernel::ReleaseRow> releases_;
  std::vector<std::int64_t> service_;  // of the history, ascending
  std::uint64_t history_seen_ = 0;
  const void* history_of_ = nullptr;
  JobOrder sorter_;
  PromiseTable promises_;
  PromiseColumns promise_columns_{};
  std::vector<Refusal> refusals_;
  bool promises_read_ = false;  // by the last `order` of a policy
  QuotaOrder quotas_;
  bool reclaims_ = false;
  std::int32_t first_ = kernel::kNone;      // the job that was put first
  std::vector<std::int32_t> order_before_;  // that
  LoweredLimits lowered_;
  std::vector<std::uint8_t> may_displace_;  // [options in which jobs are tried] where limits were lowered
  bool adds_ = false;                       // the order has running jobs that the policy does not order
  CountedAdmission admission_;
  std::int32_t admitted_ = kernel::kNone;  // the first jobs of the order; kNone: all are tried
};

}  // namespace berth::core
