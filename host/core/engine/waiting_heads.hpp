#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "berth/plan.hpp"
#include "host/core/placement/pass_input.hpp"
#include "host/core/placement/pass_problem.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/core/state/change_log.hpp"

namespace berth::core {

/// Of the jobs that wait and ask for the same GPUs only the first can start first. So where nothing has changed since a plan without
/// changes but the time, a pass over the jobs that run and these heads says whether leases that end change anything
/// (docs/placement.md, "Leases that end while nothing else happens").
class WaitingHeads {
 public:
  /// After a decision over all jobs. O(jobs) where its plan has no changes and its policy, state and problem are of a kind for which
  /// heads stand for all, else O(1) or less than the decision.
  /// @param plan  of changes
  void look(const StateImpl& state, const ChosenPolicy& chosen, PassProblem& problem, const kernel::PlaceRequest& request,
            const Plan& plan);
  void forget() { known_ = false; }
  /// Whether nothing has changed since `look` but the time, and no timer of a job that waits has run out.
  bool hold(const StateImpl& state, const ChosenPolicy& chosen);

  /// The jobs that run, and the heads.
  std::span<const std::int32_t> jobs() const { return jobs_; }
  /// Of passes over these jobs: the policy and the input keep what they know of all jobs elsewhere.
  QueuePolicy& policy() { return *policy_; }
  PassInput& input() { return input_; }
  /// Whether all jobs stay as they are after a pass over these, whose options are those of the jobs.
  static bool all_stay(const StateImpl& state, const kernel::ProblemView& problem, const kernel::PlaceRequest& request,
                       const kernel::PlaceResult& placed);
  /// When the first timer of a job that waits runs out; kNever: none does.
  TimeUs until() const { return until_; }
  /// What a plan of changes over all jobs says where all stay as they are.
  void say_all_stay(Plan& plan) const;

 private:
  static bool stand_for_all(const StateImpl& state, const ChosenPolicy& chosen, const PassProblem& problem);

  bool known_ = false;
  ChangeLog::Cursor cursor_;
  std::uint64_t options_version_ = 0, policy_version_ = 0;  // of the state; of the policy
  TimeUs now_ = 0, until_ = kNever;
  std::vector<std::int32_t> jobs_, changed_jobs_, changed_nodes_;
  std::vector<std::uint8_t> seen_;  // [demands] 1: a job that waits asks for it
  std::unique_ptr<QueuePolicy> policy_;
  PassInput input_;
  Totals totals_;
  std::vector<std::pair<std::string, std::int64_t>> objective_;
  std::int64_t iterations_ = 0;
};

}  // namespace berth::core
