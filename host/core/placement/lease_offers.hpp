#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/placement/pass_problem.hpp"
#include "host/core/placement/tried_options.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/quota/lowered_limits.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Running jobs that give up their GPUs before a scheduling pass, as their lease has ended, and are placed by it like jobs that wait
/// (docs/dally.md). Those that gain nothing by that keep their GPUs: the pass is made again without them. Memory is kept between
/// decisions.
class LeaseOffers {
 public:
  void clear() {
    jobs_.clear();
    left_.clear();
    passes_ = 0;
  }
  /// Chooses the jobs that give up their GPUs, and takes them out of the problem. Jobs that may not be displaced, and those that lost
  /// GPUs, do not, nor do those of queues above a limit that was lowered; with LeaseEnd::kOffer nor do those that could not have their
  /// GPUs back.
  /// @param ended  jobs whose lease has ended
  /// @param tried  of the problem before
  /// @returns whether there are such jobs
  bool begin(const StateImpl& state, const DelayRule& rule, std::span<const std::int32_t> ended, const TriedOptions& tried,
             PassProblem& problem);
  /// After a pass whose options are those of the jobs. A job that moves needs a tighter level, and its remaining work has to take less
  /// time there by more than the move costs. One that offers its GPUs needs other GPUs in a tighter level, the same GPUs, a timer
  /// that it waits for, or a job that takes them. One that the pass did not reach keeps them.
  /// @returns whether some job keeps its GPUs after all, so that the pass has to be made again with the problem as it is then
  bool settle(const StateImpl& state, PassProblem& problem, const kernel::PlaceRequest& request, const kernel::PlaceResult& placed);

  /// Puts the problem back to what it was before `begin`.
  void undo(const StateImpl& state, PassProblem& problem);

  bool any() const { return !jobs_.empty(); }
  /// [jobs of the state] 1: has given up its GPUs.
  const std::vector<std::uint8_t>& left() const { return left_; }
  /// [jobs of the state] 1: holds nothing in the pass, as it gave up its GPUs or lost them.
  const std::vector<std::uint8_t>& gone() const { return gone_; }

 private:
  bool may_leave(const StateImpl& state, const PassProblem& problem, const TriedOptions& tried, std::int32_t job) const;
  bool may_gain(const StateImpl& state, std::int32_t job) const;
  bool are_taken(const StateImpl& state, const kernel::PlaceResult& placed, std::int32_t job);
  bool gains(const StateImpl& state, PassProblem& problem, const kernel::PlaceResult& placed, std::int32_t i, std::int32_t job);

  LeaseEnd lease_end_ = LeaseEnd::kKeep;
  int passes_ = 0;
  LoweredLimits lowered_;
  std::vector<std::int32_t> jobs_;
  std::vector<std::uint8_t> left_, gone_;
  std::vector<PlanEntry> entries_;
  std::int32_t placed_jobs_ = 0;      // of the last pass
  std::vector<std::uint64_t> taken_;  // [nodes] GPUs that jobs of the last pass start on, where `taken_known_`
  bool taken_known_ = false;
};

}  // namespace berth::core
