#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/plan.hpp"
#include "host/backend/backend.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/placement/rejections.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

class Failures;
class KeptPass;
class KeptQueue;
class QuotaOrder;
class ShapeProblem;
struct PassChange;

/// Jobs that stay as they are, and that the pass of a decision did not have.
struct OtherJobs {
  std::int64_t run = 0, wait = 0;  // how many, without those that are rejected
  std::int64_t gpus = 0;           // whole ones that they hold
};

/// The results of one decision, before they become a plan.
struct PassOutput {
  const kernel::PlaceRequest* request = nullptr;
  const kernel::PlaceResult* result = nullptr;
  const kernel::ProblemView* problem = nullptr;         // the problem of the pass
  const std::vector<std::uint8_t>* lost = nullptr;      // [jobs of the state] 1: runs on failed GPUs and could not be repaired
  const std::vector<std::int32_t>* repaired = nullptr;  // [jobs of the state] index in `repairs`, or -1
  const std::vector<std::vector<PlanEntry>>* repairs = nullptr;
  const std::vector<TimeUs>* remaining = nullptr;  // [jobs of the state] StateImpl::remaining
  const std::uint8_t* left_out = nullptr;          // [options of the problem] 1: the pass did not try it; null: it tried all
  const ShapeProblem* choice = nullptr;            // where a policy chooses shapes
  const std::vector<std::uint8_t>* left =
      nullptr;  // where a policy chooses shapes: [jobs of the state] 1: runs, and released its GPUs before the pass
  // [jobs of the state] jobs of one class that wait have one reason, -1: no class; null: there are none
  const std::vector<std::int32_t>* class_of = nullptr;
  const QuotaOrder* quotas = nullptr;  // where jobs may be displaced for quotas
  const OtherJobs* others = nullptr;   // that the pass did not have: the plan lists only changes. Null: it had all jobs
  bool as_stated = false;              // jobs were tried in all of their shapes, with the demands that they state, and none has failed
};

/// Turns the outcomes of a scheduling pass into decisions with rates, costs and reasons. Memory is kept between plans.
class PlanBuilder : public Rejections {
 public:
  /// After `reject` on the same problem.
  void build(const StateImpl& state, const PassOutput& pass, Plan& plan);
  /// A plan of changes, after `reject` and the pass of the queue that is kept. O(what it lists).
  void build_changes(const StateImpl& state, KeptQueue& kept, const Failures& failures, bool preemptive, Plan& plan);

 private:
  /// The jobs of a pass, and those that are rejected, by job rank.
  std::span<const std::int32_t> jobs_of(const StateImpl& state, const PassOutput& pass);
  void set_held_after(const StateImpl& state, const PassOutput& pass);
  static bool returns(const StateImpl& state, const PassOutput& pass, std::int32_t i, std::int32_t job);
  void place_entries(const StateImpl& state, const PassOutput& pass, std::int32_t i, Decision& d, Plan& plan) const;
  void repair(const StateImpl& state, std::span<const PlanEntry> gang, Decision& d, Plan& plan) const;
  static void move(const StateImpl& state, Decision& d);
  /// Of a job that `reject` gave a reason. @returns whether predictions say so, which no certificate covers
  bool reject_job(const StateImpl& state, Decision& d);
  void change(const StateImpl& state, const KeptPass& pass, const PassChange& change, bool lost, Decision& d, Plan& plan);
  void predict(const StateImpl& state, Decision& d, const Plan& plan, std::int64_t rate, TimeUs start) const;

  const Reason* class_reason(const PassOutput& pass, const JobPass& job);

  /// Of the waiting jobs of a class in a plan.
  struct ClassReason {
    std::uint64_t plan = 0;
    bool behind = false;  // behind a job that blocks them
    Reason reason;
  };
  std::uint64_t plans_ = 0;
  std::vector<ClassReason> class_reasons_;
  std::vector<std::uint64_t> held_after_;  // [nodes] GPUs that some job holds after the pass; one with shares counts as held
  std::vector<std::int32_t> position_;     // [jobs of the state] in the order, -1: not in it
  std::vector<std::int32_t> jobs_;         // `jobs_of`
};

/// A running job goes on with the GPUs that it holds. @param remaining  StateImpl::remaining
void keep(const StateImpl& state, TimeUs remaining, Decision& decision, Plan& plan);

std::int64_t whole_gpus(std::span<const PlanEntry> entries);

/// Leaves out the jobs of a whole plan that are kept or wait.
void leave_out_unchanged(Plan& plan);
/// A plan of changes with the jobs that it does not list: those that run are kept, and those that wait have no reason.
/// @returns false where the jobs that it lists are none of the state's or not by job rank, which is reported
bool complete(const StateImpl& state, const Plan& changes, Plan& whole, Violations& found);

}  // namespace berth::core
