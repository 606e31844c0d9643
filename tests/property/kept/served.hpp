#pragma once

#include <cstdint>
#include <memory>

#include "berth/engine.hpp"
#include "berth/plan.hpp"
#include "host/core/kept/kept_queue.hpp"
#include "host/core/placement/failures.hpp"
#include "host/core/placement/rejections.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::test {

/// A queue of its own that follows the decisions of an engine: in how many the queue of the engine answers.
class Served {
 public:
  /// Before a decision. O(what changed).
  void decide(const StateImpl& s, const Request& request, const PolicyState& policy_state) {
    chosen_.choose(request.policy, request.params);
    const bool is_pass = chosen_.policy != nullptr && !request.changes_only && core::KeptQueue::reclaims(s, chosen_);
    if (is_pass) return;  // as in the engine
    ++decisions_;
    if (state_.lock() != s.identity) kept_.clear();
    state_ = s.identity;
    if (chosen_.policy == nullptr || !kept_.answers(s, chosen_)) return;
    const core::Reading reading = kept_.read(s, chosen_);
    failures_.find(s);
    rejections_.reject(s, s.problem(), certificates_);
    chosen_.policy->load(policy_state);
    answered_ = reading != core::Reading::kNothing && kept_.decide(s, chosen_, rejections_.rejected_jobs(), failures_);
    answers_ += answered_ ? 1 : 0;
  }
  /// The plan of this decision.
  void saw(const Plan& plan) {
    if (!answered_) kept_.saw(plan.totals.starts + plan.totals.moves + plan.totals.preempts, plan.decisions.size());
    answered_ = false;
  }
  /// Of the last decision, where the queue answers.
  const core::KeptQueue* kept() const { return answered_ ? &kept_ : nullptr; }
  std::int64_t decisions() const { return decisions_; }
  std::int64_t answers() const { return answers_; }

 private:
  std::weak_ptr<const int> state_;  // as in the engine
  core::ChosenPolicy chosen_;
  core::KeptQueue kept_;
  core::Failures failures_;
  core::Rejections rejections_;
  core::CertificateMemory certificates_;
  std::int64_t decisions_ = 0, answers_ = 0;
  bool answered_ = false;
};

}  // namespace berth::test
