#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/core/final_state.hpp"
#include "host/core/objective.hpp"
#include "host/core/walk_input.hpp"

namespace berth::core {

/// A choice of shapes, as whoever places it sees it. Columns of the choice's jobs and options.
struct ChosenShapes {
  const std::vector<std::int32_t>& slots;         // [jobs]
  const std::vector<std::int32_t>& job_of;        // [slots] index in `slots`, -1
  const std::vector<std::int32_t>& option_begin;  // [jobs + 1]
  const std::vector<ChoiceOption>& options;
  const std::vector<std::int64_t>& value;      // [options]
  const std::vector<std::int64_t>& price;      // [types]
  const std::vector<std::int32_t>& chosen;     // [jobs] relative to the job's first, -1: none
  bool by_price;                               // what is worth nothing is not tried; else what has no speed
  bool chosen_only;                            // nothing is tried but what was chosen, and fewer GPUs of its type
  std::span<const kernel::ShapeTerms> shapes;  // [options]
  std::span<const std::uint8_t> moved;         // [jobs] 1: goes on as it runs, elsewhere; empty: nobody

  std::int64_t net(std::int32_t k) const {
    const ChoiceOption& one = options[static_cast<std::size_t>(k)];
    return value[static_cast<std::size_t>(k)] - price[static_cast<std::size_t>(one.type)] * one.gpus;
  }
  /// Whether an option may be tried where there is room. @param wanted  row of what was chosen for its job, -1: nothing
  bool may_try(std::int32_t k, std::int32_t wanted) const {
    const auto i = static_cast<std::size_t>(k);
    if (k == wanted) return true;
    if (chosen_only) {
      const ChoiceOption* const most = wanted < 0 ? nullptr : &options[static_cast<std::size_t>(wanted)];
      return most != nullptr && options[i].type == most->type && options[i].gpus < most->gpus && shapes[i].speed > 0;
    }
    return by_price ? value[i] > 0 : shapes[i].speed > 0;
  }
};

/// The walk that finds places for a choice. Memory is kept between walks.
class ChoiceWalk {
 public:
  /// @param problem  that was chosen for; must stay until the plan is built.
  void build(const StateImpl& state, const kernel::ProblemView& problem, const WalkInput::Marks& marks, const ChosenShapes& choice,
             const WalkRules& rules);

  /// What the walk sees: running jobs that are not to stay as they are have left, and options stand in the order to be tried.
  const kernel::ProblemView& problem() const { return view_; }
  const kernel::PlaceRequest& request() const { return request_; }
  /// After the walk: the option that each job of the choice has, whether it stays or was placed; -1: none.
  /// @param obtained  [jobs of the choice] out
  void obtained(const ChosenShapes& choice, const kernel::PlaceResult& result, std::vector<std::int32_t>& obtained) const;
  /// The job's own option at a row of the walk's.
  std::int32_t option_of(std::int32_t slot, std::int32_t row) const {
    return option_[static_cast<std::size_t>(begin_[static_cast<std::size_t>(slot)] + row)];
  }
  /// After the walk: problem, request and result as if the jobs' own options had been walked, in their own order.
  void translate(const kernel::ProblemView& own, kernel::ProblemView& walked, kernel::PlaceRequest& request,
                 const kernel::PlaceResult& result) const;
  /// [slots] 1: runs, and has left for the walk.
  const std::vector<std::uint8_t>& left() const { return left_; }

 private:
  struct Turn {
    std::uint8_t outbid;
    std::int32_t gpus;  // of what was chosen
    std::int64_t net;   // of the best that is left to an outbid job
    std::int32_t rank, slot;
  };
  void take_turns(const StateImpl& state, const WalkInput::Marks& marks, const ChosenShapes& choice);
  void list_options(const StateImpl& state, const kernel::ProblemView& problem, const ChosenShapes& choice);

  std::vector<Turn> turns_;
  std::vector<std::uint8_t> left_, walks_, none_;
  std::vector<std::int32_t> order_, rows_, begin_, option_;  // option_: of the job, at each row
  std::vector<kernel::OptionRow> options_;
  std::vector<TimeUs> run_, own_run_;  // of the walk's rows, of the jobs' options
  FinalState after_;
  kernel::ProblemView view_{};
  kernel::PlaceRequest request_{};
};

}  // namespace berth::core
