#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/backend.hpp"
#include "host/core/choice_walk.hpp"
#include "host/core/objective.hpp"
#include "host/core/plan_terms.hpp"
#include "host/core/shape_policy.hpp"
#include "host/core/walk_input.hpp"
#include "host/core/wide.hpp"

namespace berth::core {

/// What is wanted of one choice.
struct ChoiceOrder {
  const ChoiceSettings& settings;
  ShapePolicy* policy;      // null: the prices that prove the bound choose
  const PolicyState& kept;  // of an earlier decision: its prices are where the search begins
  std::uint64_t seed;
  std::int64_t work_limit;  // of the search for prices; 0: none
};

/// The shapes that a policy wants jobs to take (docs/prices.md). Memory is kept between choices.
class ShapeChoice {
 public:
  /// Chooses among the options of all jobs that may be given other GPUs: those that wait, and running ones that may be displaced.
  /// @param problem  the state's, with mended jobs taken into account; must stay until the plan is built.
  /// @param watch  ends the search for prices only.
  void choose(const StateImpl& state, const kernel::ProblemView& problem, const WalkInput::Marks& marks, const ChoiceOrder& order,
              PlacementBackend& backend, Watch& watch);
  /// Once places were sought: chooses again without what found none, now or before. Prices and bound stay.
  /// @param obtained  [jobs] the option that each has got, -1: none
  /// @returns whether there was something to leave out, and work and time for it
  bool choose_again(const ChoiceOrder& order, std::span<const std::int32_t> obtained, PlacementBackend& backend, Watch& watch);
  /// What jobs are worth in these options, places left out of account.
  std::int64_t value_in(std::span<const std::int32_t> obtained) const;
  /// Goes back to the choice before the last `choose_again`.
  void take_back() { chosen_.swap(other_chosen_); }
  /// Only what may be chosen, for whoever checks a bound.
  void look(const StateImpl& state, const kernel::ProblemView& problem, const WalkInput::Marks& marks, const ChoiceSettings& settings);
  kernel::ChoiceView view() const;
  /// GPUs of each type that only who is left out of the choice would have to give up, and may have to under other policies.
  std::span<const std::int64_t> beyond() const { return beyond_; }
  /// What they could be worth at most to the jobs of the choice: part of the bound.
  Wide beyond_at(std::span<const std::int64_t> price) const;
  /// What the jobs of a plan are worth in what it gives them, less what its places take from that.
  /// @param terms  out: those that are on and are of places, and what each takes
  std::int64_t worth_of(const StateImpl& state, const ChoiceSettings& settings, const Plan& plan,
                        std::vector<std::pair<std::string, std::int64_t>>& terms);
  /// Leaves the prices in a PolicyState.
  void keep(const StateImpl& state, PolicyState& policy_state) const;

  /// Another choice, found by a search over whole plans, in place of this one, which goes where that was.
  /// @param chosen, moved  [jobs] as in `chosen()`
  void exchange(std::vector<std::int32_t>& chosen, std::vector<std::uint8_t>& moved) {
    chosen_.swap(chosen);
    moved_.swap(moved);
  }
  /// Of a job's options of the choice, in the order of `chosen().options`; -1: none.
  std::int32_t row_with(std::size_t job, std::int32_t option) const;
  const ShapeValues& values() const { return values_; }
  /// See PlanTerms::fragments.
  std::span<const std::int64_t> fragments(const StateImpl& state) { return terms_.fragments(state, options_, value_); }

  /// Valid until the next choice.
  ChosenShapes chosen() const {
    return {slots_, job_of_, option_begin_, options_, value_, price_, chosen_, by_price_, chosen_only_, values_.shapes(), moved_};
  }
  /// Why a job that was given nothing has nothing; code kNone where it was to have something, or where the choice is not the cause.
  Reason outbid(std::int32_t slot) const;
  /// Of these prices: code kNone where some shape is worth more to it than its GPUs cost.
  Reason outbid_at(std::int32_t slot, const std::vector<std::int64_t>& price) const;

  /// Writes objective, bound and prices into a plan that is built.
  void report(const StateImpl& state, const ChoiceSettings& settings, Plan& plan);

  /// In the unit of a limit of work: evaluations of prices, or what a policy that searches counts.
  std::int64_t work() const { return work_; }

 private:
  void collect(const StateImpl& state, const kernel::ProblemView& problem, const WalkInput::Marks& marks);
  const std::string& scalar_of(const GpuType& type) const;
  std::int32_t row_of(const StateImpl& state, const Plan& plan, const Decision& decision) const;

  std::vector<ChoiceOption> options_;
  std::vector<std::int32_t> slots_;         // of the choice's jobs, by job rank
  std::vector<std::int32_t> option_begin_;  // [jobs + 1]
  std::vector<std::int32_t> type_, gpus_;
  std::vector<std::int64_t> value_, capacity_, beyond_, price_, used_, earlier_;
  std::vector<std::int64_t> placeable_;    // value_, less than that of nothing for what found no place
  std::vector<std::int64_t> again_price_;  // of choices made again: nobody reads them
  std::vector<std::int32_t> chosen_;
  std::vector<std::int32_t> other_chosen_;  // before the last choose_again; beside a policy's own choice, of nobody
  std::vector<std::uint8_t> moved_;
  bool by_price_ = true, chosen_only_ = false;
  std::vector<std::int32_t> job_of_;  // [slots] index in slots_, -1
  std::int64_t sum_ = 0, bound_ = 0;
  std::int32_t evaluations_ = 0;
  std::int64_t work_ = 0;

  ShapeValues values_;
  PlanTerms terms_;
  std::vector<std::int32_t> row_;  // [decisions]
  mutable std::string scalar_;
};

}  // namespace berth::core
