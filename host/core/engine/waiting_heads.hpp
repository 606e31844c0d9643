#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "berth/engine.hpp"
#include "berth/kernel/base/problem.hpp"
#include "berth/plan.hpp"
#include "host/core/engine/plan_builder.hpp"
#include "host/core/model/capacity.hpp"
#include "host/core/placement/final_state.hpp"
#include "host/core/placement/pass_input.hpp"
#include "host/core/placement/pass_problem.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/core/state/change_log.hpp"

namespace berth::core {

/// Jobs that wait, ask for the same GPUs, wait for the same levels and are charged to the same queue form a class. Of a class only the
/// first can start first, and a running job within its lease stays. So a pass has the jobs whose leases have ended and these heads, and
/// decides for all. Where a class starts all of its jobs in the pass, another pass has more of them (docs/placement.md, "Decisions under
/// leases"). The order of the jobs that wait and the ends of leases are kept between decisions on one state.
class WaitingHeads {
 public:
  /// What a pass over `jobs` says of the others.
  enum class Answer : std::uint8_t {
    kAll,     // they stay as they are
    kMore,    // a class started all of its jobs: `jobs` has more of them now, and the pass has to be made again
    kNothing  // all jobs have to be asked
  };

  /// After a decision over all jobs. O(jobs)
  /// @param in  of its pass, after PassInput::order_until
  void look(const StateImpl& state, const ChosenPolicy& chosen, const PassProblem& problem, const PassInput& in,
            const kernel::PlaceRequest& request, const kernel::PlaceResult& placed, std::span<const std::int32_t> rejected,
            const Plan& plan, const PolicyState& policy_state);
  void forget() { known_ = false; }

  /// Reads what has changed in the state. @param policy_state  as the caller gives it
  /// @returns whether the jobs that wait are known
  bool read(const StateImpl& state, const ChosenPolicy& chosen, const PolicyState& policy_state);
  /// Chooses the heads, after `read`. @param problem  after PassProblem::begin. @param rejected  jobs that can never run
  /// @returns whether they may stand for all. O(jobs), and O(nodes log(jobs)) for each job that changed and waits
  bool choose(const StateImpl& state, const ChosenPolicy& chosen, PassProblem& problem, const PassInput::Marks& marks,
              std::span<const std::int32_t> rejected, const TriedOptions& tried, const PolicyState& policy_state);
  /// After a pass over `jobs`, whose options are those of the jobs.
  Answer answer(const StateImpl& state, PassProblem& problem, const kernel::PlaceRequest& request, const kernel::PlaceResult& placed);
  /// After the decision over these jobs; see `look`.
  void settle(const StateImpl& state, const PassInput& in, const kernel::PlaceRequest& request, const kernel::PlaceResult& placed,
              const PolicyState& policy_state);

  /// Jobs whose leases have ended, and the heads of those that wait.
  std::span<const std::int32_t> jobs() const { return jobs_; }
  /// The others, when the first lease of these ends or deadline passes, and when the first timer runs out.
  const OtherJobs& others() const { return others_; }
  TimeUs others_change() const { return others_change_; }
  TimeUs others_timer() const { return others_timer_; }
  /// Of passes over these jobs: the policy and the input keep what they know of all jobs elsewhere.
  QueuePolicy& policy() { return *policy_; }
  PassInput& input() { return input_; }

 private:
  // More changes than these are followed by a pass over all jobs.
  static constexpr std::size_t kMostChanges = 32;
  static constexpr TimeUs kUnknown = -1;  // end of a lease: the job has to be asked

  struct Running {
    std::int32_t job;
    TimeUs end;         // of its lease
    std::int64_t gpus;  // whole ones that it holds
  };
  struct Waiting {
    std::int32_t job;
    std::int32_t kind;  // -1: it is asked on its own
    TimeUs since;
    TimeUs last_start;  // of a job with a hard deadline
  };
  /// Jobs that state the same demands, in the same order, and are of the same queue.
  struct Kind {
    std::vector<TimeUs> changes;  // after waiting so long they are of the next class
    std::size_t first = 0;        // of their classes
  };
  /// Of the jobs of a class that a pass has.
  struct Class {
    std::int32_t most = 1;  // that it may have
    std::int32_t had = 0;
    std::int32_t started = 0;
  };

  static bool stand_for_all(const StateImpl& state, const ChosenPolicy& chosen, const PassProblem& problem);
  bool follow(const StateImpl& state, const ChosenPolicy& chosen, const PassInput::Marks& marks, std::span<const std::int32_t> rejected,
              const TriedOptions& tried, const PolicyState& policy_state);
  void set_rejected(std::span<const std::int32_t> jobs);
  Waiting waiting(const StateImpl& state, std::int32_t job);
  void read_changes(const StateImpl& state, DelayTimers& timers, std::size_t kind);
  void read_kinds(const StateImpl& state, DelayTimers& timers);
  bool may_fit(const kernel::ProblemView& problem, const kernel::OptionRow& option) const;
  bool count_starts(const StateImpl& state, const kernel::ProblemView& problem, const kernel::PlaceRequest& request,
                    const kernel::PlaceResult& placed, bool some_wait);
  std::size_t class_of(TimeUs now, const Waiting& one) const;
  void pick(const StateImpl& state);
  void read_leases(const StateImpl& state, const PassInput& in, const kernel::PlaceRequest& request, const kernel::PlaceResult& placed);
  static std::uint64_t fingerprint(const PolicyState& policy_state);

  bool known_ = false;
  ChangeLog::Cursor cursor_;
  std::uint64_t cluster_version_ = 0, policy_version_ = 0, timers_version_ = 0;  // of the state, the policy, DelayTimers
  std::uint64_t policy_state_ = 0;                                               // its fingerprint
  TimeUs now_ = 0;
  std::vector<Waiting> waiting_, picked_;  // in order; of `jobs_`, those that wait
  std::vector<Running> running_;
  std::vector<std::int32_t> jobs_, changed_jobs_, changed_nodes_, rejected_, was_rejected_;
  std::vector<std::uint8_t> changed_;   // [jobs of the state] 1 while `follow` reads
  std::vector<std::int32_t> position_;  // the same: of jobs of the last pass, in its order
  std::vector<TimeUs> ends_;            // the same: of leases, of running jobs of the last pass
  FinalState after_;                    // the problem after the first jobs of the pass
  Capacity capacity_;                   // of `after_`
  OtherJobs others_;
  TimeUs others_change_ = kNever, others_timer_ = kNever;
  std::map<std::vector<std::int32_t>, std::int32_t> kind_of_;
  std::vector<const std::vector<std::int32_t>*> described_;  // [kinds] keys of `kind_of_`: the queue, then the demands
  std::vector<Kind> kinds_;
  std::vector<Class> classes_;
  std::vector<std::int32_t> description_;
  std::unique_ptr<QueuePolicy> policy_, compared_;
  PassInput input_, comparison_;
};

}  // namespace berth::core
