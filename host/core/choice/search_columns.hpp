#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/plan_search/columns.hpp"
#include "host/core/choice/locality.hpp"
#include "host/core/choice/shape_pass.hpp"
#include "host/core/placement/final_state.hpp"
#include "host/core/policy_api/objective.hpp"

namespace berth::core {

class ShapeProblem;

/// The columns of a kernel::PlanSearchView, from a choice and the state. Memory is kept between searches.
class SearchColumns {
 public:
  struct Asked {
    const StateImpl& state;
    const kernel::ProblemView& problem;
    ShapeProblem& choice;
    kernel::PlanTermSet terms;
    const PassRules& rules;
  };
  /// Starts with what is free once all jobs of the choice have left.
  void begin(const Asked& asked);
  /// A job outside the choice holds what it was given.
  void take(std::int32_t job, const kernel::DemandRow& demand, std::span<const kernel::PlacedRow> entries);
  /// Computes the rest, after the last `take`.
  void finish(const Asked& asked);

  const kernel::PlanSearchView& view() const { return view_; }
  /// [jobs] by the value of a job's best option beyond its price, highest first.
  const std::vector<std::int32_t>& fill_order() const { return fill_order_; }
  const std::vector<std::int32_t>& current() const { return current_; }

 private:
  void add_options(const Asked& asked, const ChosenShapes& choice);
  void add_placed_values(const Asked& asked, const ChosenShapes& choice);
  void add_fragments(const Asked& asked);
  void add_rooms(const kernel::ProblemView& problem);

  FinalState empty_;
  Locality locality_;
  kernel::PlanSearchView view_{};
  std::vector<std::int32_t> demand_, rank_begin_, ranked_, preferred_, fill_order_, current_, type_begin_, type_node_, room_, node_room_,
      block_;
  std::vector<std::int64_t> placed_value_, moved_value_, best_net_;
  std::vector<TimeUs> run_;
};

}  // namespace berth::core
