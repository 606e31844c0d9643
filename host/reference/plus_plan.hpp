#pragma once

#include <cstdint>
#include <vector>

#include "host/reference/plus_worth.hpp"
#include "host/reference/state.hpp"

namespace berth::reference {

/// An individual, and the rules of docs/ones-plus.md, section 1, by which jobs get places and give them up.
class PlusPlan {
 public:
  /// Nobody has anything. The view must live as long as the plan.
  explicit PlusPlan(const kernel::PlusView& view);

  const PlusHolding& held_by(std::int32_t job) const { return holdings_[static_cast<std::size_t>(job)]; }
  std::int32_t row_of(std::int32_t job) const { return held_by(job).row; }
  bool has_something(std::int32_t job) const { return row_of(job) != kernel::kNone; }
  const State& state() const { return state_; }
  std::int64_t worth_of(std::int32_t job) const { return plus_worth(*view_, job, held_by(job)); }
  /// Is worth less where it lies than its row could be.
  bool is_away(std::int32_t job) const;
  /// Jobs whose row is not the one that they want, or that are away, in the order of the list.
  const std::vector<std::int32_t>& open() const { return open_; }
  std::int64_t score() const;

  /// What it had, to give it back.
  PlusHolding give_up(std::int32_t job);
  /// A job that has nothing gets this, without a look at whether it may.
  void get(std::int32_t job, PlusHolding holding);

  // All of these are for jobs that have nothing; false: nothing has changed.
  bool go_home(std::int32_t job);
  bool place(std::int32_t job, std::int32_t row);
  /// Only to be worth more than that.
  bool place_above(std::int32_t job, std::int32_t row, std::int64_t than);
  /// In the first of its ranked rows that can be placed, `except` left out.
  bool place_ranked(std::int32_t job, std::int32_t except = kernel::kNone);
  /// In the row, else in the first of the other ranked ones.
  bool place_or_other(std::int32_t job, std::int32_t row) { return place(job, row) || place_ranked(job, row); }
  /// Whoever has nothing, in turn, as far as the score does not fall.
  void fill();

 private:
  bool may_have(std::int32_t job, std::int32_t row) const;
  bool place_for_more(std::int32_t job, std::int32_t row);
  void correct_open(std::int32_t job);

  const kernel::PlusView* view_;
  State state_;
  std::vector<PlusHolding> holdings_;  // [jobs]
  std::vector<std::int32_t> open_;
};

}  // namespace berth::reference
