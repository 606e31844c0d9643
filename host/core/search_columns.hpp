#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/plus.hpp"
#include "host/core/choice_walk.hpp"
#include "host/core/final_state.hpp"
#include "host/core/lying.hpp"
#include "host/core/objective.hpp"

namespace berth::core {

class ShapeChoice;

/// The columns of a kernel::PlusView, from a choice and the state. Memory is kept between searches.
class SearchColumns {
 public:
  struct Asked {
    const StateImpl& state;
    const kernel::ProblemView& problem;
    ShapeChoice& choice;
    kernel::PlanTermSet terms;
    const WalkRules& rules;
  };
  /// What is free once all jobs of the choice have left.
  void begin(const Asked& asked);
  /// Somebody who is not of the choice holds what he was given.
  void take(std::int32_t slot, const kernel::DemandRow& demand, std::span<const kernel::PlacedRow> entries);
  /// The rest, once nobody takes any more.
  void finish(const Asked& asked);

  const kernel::PlusView& view() const { return view_; }
  /// [jobs] by what a job's best row is worth beyond the prices, most first.
  const std::vector<std::int32_t>& turn() const { return turn_; }
  const std::vector<std::int32_t>& current() const { return current_; }

 private:
  void add_rows(const Asked& asked, const ChosenShapes& choice);
  void add_worth(const Asked& asked, const ChosenShapes& choice);
  void add_fragments(const Asked& asked);
  void add_rooms(const kernel::ProblemView& problem);

  FinalState empty_;
  Lying lying_;
  kernel::PlusView view_{};
  std::vector<std::int32_t> demand_, rank_begin_, ranked_, want_, turn_, current_, type_begin_, type_node_, room_, node_room_, block_;
  std::vector<std::int64_t> worth_, moved_worth_, best_net_;
  std::vector<TimeUs> run_;
};

}  // namespace berth::core
