#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "host/backend/backend.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/choice/plan_terms.hpp"
#include "host/core/choice/shape_pass.hpp"
#include "host/core/placement/pass_input.hpp"
#include "host/core/policy_api/objective.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/core/quota/lowered_limits.hpp"

namespace berth::core {

/// Request for one choice.
struct ChoiceOrder {
  const ChoiceSettings& settings;
  ShapePolicy* policy;      // null: the prices that prove the bound choose
  const PolicyState& kept;  // of an earlier decision: its prices are the start of the search
  std::uint64_t seed;
  std::int64_t max_iterations;  // of the search for prices; 0: none
};

/// What is chosen for the jobs of a choice, by its own order of jobs.
struct JobChoice {
  std::vector<std::int32_t> option;  // relative to the job's first, -1: none
  std::vector<std::uint8_t> moved;   // 1: continues as it runs, elsewhere; empty: none does
};

/// The options that a policy chooses for jobs (docs/prices.md). Memory is kept between choices.
class ShapeProblem {
 public:
  /// Chooses among the options of all jobs that may be given other GPUs: waiting ones, and running ones that may be
  /// displaced.
  /// @param problem  the state's, with repaired jobs taken into account; must stay until the plan is built.
  /// @param stop_token  ends the search for prices only.
  void choose(const StateImpl& state, const kernel::ProblemView& problem, const PassInput::Marks& marks, const ChoiceOrder& order,
              PlacementBackend& backend, StopToken& stop_token);
  /// After placement: chooses again without the options that found no place, now or before. An option that is slower in
  /// wide places has its value there when it found no tight ones. Prices and bound stay, and so does the current choice.
  /// @param obtained  [jobs]
  /// @param again  out: the other choice
  /// @returns whether there was something to leave out, and work and time for it
  bool choose_again(const ChoiceOrder& order, std::span<const ObtainedShape> obtained, PlacementBackend& backend, StopToken& stop_token,
                    JobChoice& again);
  /// Only computes what may be chosen, for checking a bound.
  void look(const StateImpl& state, const kernel::ProblemView& problem, const PassInput::Marks& marks, const ChoiceSettings& settings);
  kernel::PriceView view() const;
  /// GPUs of each type that only jobs outside the choice would have to give up, and may have to under other policies.
  std::span<const std::int64_t> beyond() const { return beyond_; }
  /// Upper bound of their value to the jobs of the choice: part of the bound.
  Wide beyond_at(std::span<const std::int64_t> price) const;
  /// The objective value of a plan: the values of its jobs' options, less the losses by places.
  /// @param terms  out: the terms that are on and depend on places, and the loss by each
  std::int64_t objective_value(const StateImpl& state, const ChoiceSettings& settings, const Plan& plan,
                               std::vector<std::pair<std::string, std::int64_t>>& terms);
  /// Stores the prices in a PolicyState.
  void keep(const StateImpl& state, PolicyState& policy_state) const;

  /// Makes another choice the current one. @returns the choice before it
  JobChoice exchange(JobChoice next) { return std::exchange(choice_, std::move(next)); }
  /// Row of a job's option in `chosen().options`; -1: none.
  std::int32_t option_index(std::size_t job, std::int32_t option) const;
  const ShapeValues& values() const { return values_; }
  /// See PlanTerms::fragments.
  std::span<const std::int64_t> fragments(const StateImpl& state) { return terms_.fragments(state, options_, value_); }

  /// Valid until the next choice.
  ChosenShapes chosen() const {
    return {jobs_,          job_of_,   option_begin_, options_, value_,        price_,
            choice_.option, by_price_, chosen_only_,  values_,  choice_.moved, wide_};
  }
  /// Why a job obtained nothing; code kNone where it was to obtain something, or where the choice is not the cause.
  Reason outbid(std::int32_t job) const;
  /// At these prices: code kNone where some option has a higher value to it than its GPUs cost.
  Reason outbid_at(std::int32_t job, const std::vector<std::int64_t>& price) const;

  /// Writes objective, bound and prices into a finished plan.
  void report(const StateImpl& state, const ChoiceSettings& settings, Plan& plan);

  /// In the unit of a limit of iterations: evaluations of prices, or the unit of a policy that searches.
  std::int64_t work() const { return work_; }

 private:
  void keep_unknown();
  void collect(const StateImpl& state, const kernel::ProblemView& problem, const PassInput::Marks& marks);
  const std::string& scalar_of(const GpuType& type) const;
  std::int32_t row_of(const StateImpl& state, const Plan& plan, const Decision& decision) const;

  std::vector<ChoiceOption> options_;
  std::vector<std::int32_t> jobs_;          // of the choice's jobs, by job rank
  std::vector<std::int32_t> option_begin_;  // [jobs + 1]
  std::vector<std::int32_t> type_, gpus_;
  LoweredLimits lowered_;
  std::vector<std::int64_t> value_, capacity_, beyond_, price_, used_, earlier_, left_;
  std::vector<std::int64_t> placeable_;    // value_, or that in wide places; below that of no option where no place was found
  std::vector<std::uint8_t> wide_;         // [options] 1: `placeable_` is that in wide places
  std::vector<std::int64_t> again_price_;  // of repeated choices; not read
  JobChoice choice_;
  std::vector<std::int32_t> price_option_;  // chosen by the prices of a bound, where a policy chooses; not read
  bool by_price_ = true, chosen_only_ = false;
  std::vector<std::int32_t> job_of_;  // [jobs of the state] index in jobs_, -1
  std::int64_t sum_ = 0, bound_ = 0;
  std::int32_t evaluations_ = 0;
  std::int64_t work_ = 0;

  ShapeValues values_;
  PlanTerms terms_;
  std::vector<std::int32_t> row_;  // [decisions]
  mutable std::string scalar_;
};

}  // namespace berth::core
