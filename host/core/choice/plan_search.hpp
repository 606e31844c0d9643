#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/plan_search/columns.hpp"
#include "host/backend/backend.hpp"
#include "host/core/choice/search_columns.hpp"
#include "host/core/choice/search_seeds.hpp"
#include "host/core/choice/shape_pass.hpp"
#include "host/core/placement/final_state.hpp"
#include "host/core/policy_api/search_settings.hpp"

namespace berth::core {

class ShapeProblem;

/// Initial plan of a search over whole plans: the choice by prices and its places.
struct PlacedPlan {
  ShapeProblem& choice;
  const ShapePass& pass;
  const kernel::PlaceResult& result;
};

/// Request for a search.
struct SearchOrder {
  const SearchSettings& settings;
  kernel::PlanTermSet terms;
  const PolicyState& kept;  // of an earlier decision: its population
  std::uint64_t seed;
  std::int64_t max_iterations;  // see PlanSearch::work; 0: none
  bool timed;                   // the time is limited
};

/// The search of `ones-plus` over whole plans (docs/ones-plus.md). It starts from the choice by prices as placed by the
/// scheduling pass. Memory is kept between searches.
class PlanSearch {
 public:
  /// @param problem  the state's, with repaired jobs taken into account.
  void run(const StateImpl& state, const kernel::ProblemView& problem, const PlacedPlan& begin, const PassRules& rules,
           const SearchOrder& order, PlacementBackend& backend, StopToken& stop_token);

  /// [jobs of the choice] options of the best plan, relative to the job's first, -1: none.
  std::span<const std::int32_t> chosen() const { return chosen_; }
  /// [jobs of the choice] 1: runs in the same option, elsewhere.
  std::span<const std::uint8_t> moved() const { return moved_; }
  /// Gives the result of a scheduling pass that was built again for that choice, without running it.
  /// @param earlier  of the initial plan, for jobs outside the choice
  void place(const ShapeProblem& choice, const ShapePass& pass, const PlacedPlan& earlier, const kernel::PlaceResult& result);

  /// The initial plan, and each generation.
  std::int64_t work() const { return generations_ + 1; }
  /// Of the best plan: at the start, and after each generation.
  std::span<const std::int64_t> history() const { return {score_.data(), static_cast<std::size_t>(generations_) + 1}; }
  /// Stores the best of each island in a PolicyState.
  void store(const ShapeProblem& choice, PolicyState& kept) const { seeds_.store(choice, island_option_, kept); }

 private:
  void set_plan(const kernel::ProblemView& problem, const PlacedPlan& begin);
  void choose(const kernel::ProblemView& problem, const ChosenShapes& choice);
  kernel::PlanSearchResult prepare(std::int32_t islands, std::int32_t generations, std::int32_t gpus);

  SearchColumns columns_;
  SearchSeeds seeds_;
  std::vector<std::int32_t> begin_option_, begin_entries_;  // of the initial plan
  std::vector<kernel::PlacedRow> entries_;
  // The answer.
  std::vector<std::int32_t> option_, entry_begin_, entry_end_, island_option_, chosen_;
  std::vector<kernel::PlacedRow> best_;
  std::vector<std::int64_t> score_;
  std::vector<std::uint8_t> moved_;
  std::int32_t generations_ = 0;
  std::vector<std::int32_t> position_;  // [jobs of the state] in the scheduling pass
};

}  // namespace berth::core
