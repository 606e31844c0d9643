#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/core/kept/entitled_jobs.hpp"
#include "host/core/kept/guaranteed_jobs.hpp"
#include "host/core/kept/kept_pass.hpp"
#include "host/core/kept/stuck_reach.hpp"
#include "host/core/kept/timed_demands.hpp"
#include "host/core/kept/victim_order.hpp"
#include "host/core/kept/waiting_classes.hpp"
#include "host/core/placement/overruns.hpp"
#include "host/core/placement/rejections.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/core/state/change_log.hpp"
#include "host/core/state/job_times.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

/// What the kept queue can do with what happened since the last decision.
enum class Reading : std::uint8_t {
  kNothing,  // the pass over all jobs is needed
  kAnew,     // it reads the whole state
  kChanges   // it follows the changes
};

/// The queue of a policy that is kept between decisions, and its pass. It follows the changes of one state.
///
/// For policies whose keys rest while jobs wait and, where running jobs may be displaced, rise only at instants that the
/// policy names.
class KeptQueue final : private FallingKeys {
 public:
  KeptQueue() = default;
  KeptQueue(const KeptQueue&) = delete;  // `guaranteed_` reads `entitled_`
  KeptQueue& operator=(const KeptQueue&) = delete;
  /// Whether this queue gives the answer of the pass over all jobs; it does not depend on what is kept.
  bool answers(const StateImpl& state, const ChosenPolicy& chosen) const;
  /// Forgets the state that it followed.
  void clear() {
    known_ = seen_ = false;
    cursor_ = {};
    inexact_ = {};
    stuck_ = {};
    entitled_.forget();
  }

  /// Reads what happened since the last decision: once in each decision for which `answers` holds.
  Reading read(const StateImpl& state, const ChosenPolicy& chosen);

  /// Runs the pass, after `read`, unless that needs the pass over all jobs.
  /// @param rejected  as Rejections::rejected_jobs
  /// @param failures  of the same state
  /// @returns false where the pass over all jobs is needed after all.
  bool decide(const StateImpl& state, const ChosenPolicy& chosen, std::span<const std::int32_t> rejected, const Failures& failures);
  const KeptPass& pass() const { return pass_; }
  /// Jobs that wait and are not rejected, as the pass found them.
  std::int64_t waiting_jobs() const { return waiting_.n_jobs(); }
  /// Plan::order_until_us, after `decide` on the same state. @param rejections  of that decision
  TimeUs order_until(Rejections& rejections);
  /// Adds to the reason of a job that the pass displaced what the queue of the other job is entitled to, if it was displaced for that.
  void say_why(std::int32_t victim, Reason& reason) {
    if (reclaims_) guaranteed_.say_why(*s_, victim, reason, *this);
  }
  /// Whether jobs may be displaced for guarantees by a policy that also displaces jobs otherwise.
  static bool reclaims(const StateImpl& state, const ChosenPolicy& chosen);
  /// The same: whether a job that waits or may be displaced is within the guarantee of its queue.
  bool is_guaranteed(std::int32_t job) const { return guaranteed_.level(job) < 0; }
  /// How many instants `order_until` chooses from: one of each running job at most, and some of jobs that have changed since.
  std::size_t order_instants() const { return order_changes_.size(); }
  /// See WaitingClasses::class_of; of the last decision.
  const std::vector<std::int32_t>& class_of() const { return waiting_.class_of(); }
  /// After a pass over all jobs: it is followed only where it changed little.
  void saw(std::int64_t changes, std::size_t jobs) { settled_ = changes <= static_cast<std::int64_t>(few(jobs)); }

 private:
  void rebuild(const StateImpl& state, const ChosenPolicy& chosen);
  /// A job, as it was.
  struct Seen {
    std::int32_t job = -1;  // none
    std::uint64_t version = 0;
  };
  /// Jobs of one kind, and the last decision in which each was of it.
  struct Marked {
    std::vector<std::int32_t> jobs;
    std::vector<std::int64_t> in;  // [jobs of the state]
  };
  void mark(const StateImpl& state, std::span<const std::int32_t> jobs, Marked& marked);
  bool is_marked(const Marked& marked, std::int32_t job) const { return marked.in[static_cast<std::size_t>(job)] == decision_; }
  bool collect_changes(const StateImpl& state);
  void read_changes(const StateImpl& state, const ChosenPolicy& chosen);
  void read_job(const StateImpl& state, const ChosenPolicy& chosen, std::int32_t job);
  void add_waiting(const StateImpl& state, const ChosenPolicy& chosen, const OrderPlace& place);
  TimeUs next_change(const StateImpl& state, std::int32_t job);
  TimeUs change_after_pass(const PassChange& change);
  std::int64_t key_of(std::int32_t job) override;
  std::int64_t lowest_key(std::int32_t job, TimeUs until) override;
  std::int64_t most_fall(std::int32_t job) override;
  static bool is_exact(const StateImpl& state, std::int32_t job);
  bool is_unchanged(const StateImpl& state, const Seen& seen) const;
  void raise_entitled(const StateImpl& state);
  bool all_entitled_start(const StateImpl& state);
  void judge(const StateImpl& state, std::span<const std::int32_t> jobs);
  void set_level(std::int32_t job);
  TimeUs victims_from() const;
  std::int64_t entitled_waiting() const;
  bool may_put_first(const StateImpl& state);
  static std::size_t part_of(const StateImpl& state, const JobRecord& record);
  void read_columns(const StateImpl& state);
  const JobColumns& columns(const StateImpl& state, std::int32_t job);

  TimedDemands demands_;
  WaitingClasses waiting_;
  VictimOrder running_;
  KeptPass pass_;
  Overruns overruns_;
  LoweredLimits lowered_;
  StuckReach reach_;
  // More changes than these are followed by the pass over all jobs.
  static std::size_t few(std::size_t jobs) { return 64 + jobs / 16; }

  Reading reading_ = Reading::kNothing;
  EntitledJobs entitled_;
  GuaranteedJobs guaranteed_;  // where the policy displaces jobs
  bool reclaims_ = false;      // the same
  bool known_ = false;         // all of this is of the state, and no job is inexact
  bool settled_ = false;       // the last pass changed little
  bool seen_ = false;          // the state and the policy are those of the last decision
  ChangeLog::Cursor cursor_;
  const ChosenPolicy* chosen_ = nullptr;    // of the decision
  QueuePolicy* policy_ = nullptr;           // that the keys are of
  std::uint64_t policy_version_ = 0;        // ChosenPolicy::version of it
  const StateImpl* s_ = nullptr;            // of the decision
  const kernel::ProblemView* p_ = nullptr;  // the same
  Marked rejected_, broken_;                // jobs that lost GPUs
  std::int64_t decision_ = 0;
  JobTimes changes_;                             // of keys of running jobs that may be displaced, and of classes of waiting jobs
  JobTimes order_changes_;                       // of keys of all running jobs, where some may be displaced
  std::vector<std::uint64_t> has_order_change_;  // [jobs of the state] version of the job whose instant is in `order_changes_`
  Seen inexact_;                                 // the pass over all jobs is needed for it: the one that was read last
  Seen stuck_;                                   // its queue is entitled to it, and it found no room without displacing others
  JobColumns columns_{};                         // of jobs that were asked for, in `remaining_` and `attained_`
  std::vector<TimeUs> remaining_, assigned_;
  std::vector<std::int64_t> attained_;
  std::vector<std::uint8_t> runs_then_;  // [jobs of the state] as of one job after the pass, as are its GPUs
  std::vector<std::int32_t> gpus_then_;
  std::vector<std::int32_t> jobs_, nodes_, gain_, kind_;
};

}  // namespace berth::core
