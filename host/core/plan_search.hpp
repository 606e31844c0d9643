#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/plus.hpp"
#include "host/core/backend.hpp"
#include "host/core/choice_walk.hpp"
#include "host/core/final_state.hpp"
#include "host/core/search_columns.hpp"
#include "host/core/search_seeds.hpp"
#include "host/core/search_settings.hpp"

namespace berth::core {

class ShapeChoice;

/// Where a search of whole plans begins: what prices chose, and the places that it found.
struct PlacedPlan {
  ShapeChoice& choice;
  const ChoiceWalk& walk;
  const kernel::PlaceResult& result;
};

/// What is wanted of a search.
struct SearchOrder {
  const SearchSettings& settings;
  kernel::PlanTermSet terms;
  const PolicyState& kept;  // of an earlier decision: its population
  std::uint64_t seed;
  std::int64_t work_limit;  // see PlanSearch::work; 0: none
  bool timed;               // somebody limits the time
};

/// The search of `ones-plus` over whole plans (docs/ones-plus.md): what prices chose and the walk placed is where it begins. Memory is kept
/// between searches.
class PlanSearch {
 public:
  /// @param problem  the state's, with mended jobs taken into account.
  void run(const StateImpl& state, const kernel::ProblemView& problem, const PlacedPlan& begin, const WalkRules& rules,
           const SearchOrder& order, PlacementBackend& backend, Watch& watch);

  /// [jobs of the choice] rows of the best plan, relative to the job's first, -1: none.
  std::span<const std::int32_t> chosen() const { return chosen_; }
  /// [jobs of the choice] 1: runs as it does, elsewhere.
  std::span<const std::uint8_t> moved() const { return moved_; }
  /// After the walk was built anew for that choice: its result, without walking.
  /// @param earlier  of the plan begun with, for jobs that are not of the choice
  void place(const ShapeChoice& choice, const ChoiceWalk& walk, const PlacedPlan& earlier, const kernel::PlaceResult& result);

  /// The beginning, and each generation.
  std::int64_t work() const { return generations_ + 1; }
  /// Of the best plan: at first, and after each generation.
  std::span<const std::int64_t> history() const { return {score_.data(), static_cast<std::size_t>(generations_) + 1}; }
  /// Leaves the best of each island in a PolicyState.
  void store(const ShapeChoice& choice, PolicyState& kept) const { seeds_.store(choice, genes_, kept); }

 private:
  void set_plan(const kernel::ProblemView& problem, const PlacedPlan& begin);
  void choose(const kernel::ProblemView& problem, const ChosenShapes& choice);
  kernel::PlusResult prepare(std::int32_t islands, std::int32_t generations, std::int32_t gpus);

  SearchColumns columns_;
  SearchSeeds seeds_;
  std::vector<std::int32_t> begin_row_, begin_entries_;  // of the plan to begin with
  std::vector<kernel::PlacedRow> entries_;
  // The answer.
  std::vector<std::int32_t> row_, entry_begin_, entry_end_, genes_, chosen_;
  std::vector<kernel::PlacedRow> best_;
  std::vector<std::int64_t> score_;
  std::vector<std::uint8_t> moved_;
  std::int32_t generations_ = 0;
  std::vector<std::int32_t> position_;  // [slots] in the walk
};

}  // namespace berth::core
