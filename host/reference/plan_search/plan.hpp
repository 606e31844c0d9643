#pragma once

#include <cstdint>
#include <vector>

#include "host/reference/base/state.hpp"
#include "host/reference/plan_search/value.hpp"

namespace berth::reference {

/// An individual, and the rules of docs/ones-plus.md, section 1, by which jobs are placed and removed.
class SearchedPlan {
 public:
  /// Starts with no job placed. The view must outlive the plan.
  explicit SearchedPlan(const kernel::PlanSearchView& view);

  const PlanSearchHolding& held_by(std::int32_t job) const { return holdings_[static_cast<std::size_t>(job)]; }
  std::int32_t option_of(std::int32_t job) const { return held_by(job).option; }
  bool has_something(std::int32_t job) const { return option_of(job) != kernel::kNone; }
  const State& state() const { return state_; }
  std::int64_t value_of(std::int32_t job) const { return plan_search_value(*view_, job, held_by(job)); }
  /// Whether its value at its place is below the best value of its option.
  bool is_away(std::int32_t job) const;
  /// Jobs that lack their preferred option or are away, in the order of the list.
  const std::vector<std::int32_t>& open() const { return open_; }
  std::int64_t score() const;

  /// Removes a job. @returns what it had, to restore it.
  PlanSearchHolding give_up(std::int32_t job);
  /// Places a job that has no GPUs, without any check.
  void get(std::int32_t job, PlanSearchHolding holding);

  // All of these are for jobs that have no GPUs; false: nothing changed.
  bool go_home(std::int32_t job);
  bool place(std::int32_t job, std::int32_t option);
  /// Only if the value exceeds `than`.
  bool place_above(std::int32_t job, std::int32_t option, std::int64_t than);
  /// In the first of its ranked options that can be placed, except `except`.
  bool place_ranked(std::int32_t job, std::int32_t except = kernel::kNone);
  /// In the option, else in the first of the other ranked ones.
  bool place_or_other(std::int32_t job, std::int32_t option) { return place(job, option) || place_ranked(job, option); }
  /// Places the jobs without GPUs, in order, as long as the score does not decrease.
  void fill();

 private:
  bool may_have(std::int32_t job, std::int32_t option) const;
  bool place_for_more(std::int32_t job, std::int32_t option);
  void correct_open(std::int32_t job);

  const kernel::PlanSearchView* view_;
  State state_;
  std::vector<PlanSearchHolding> holdings_;  // [jobs]
  std::vector<std::int32_t> open_;
};

}  // namespace berth::reference
