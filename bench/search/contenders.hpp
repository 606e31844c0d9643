#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "bench/search/instance.hpp"

namespace berth::bench {

/// What a contender has reached: from so many seconds after the call on it can hand over a plan worth so much.
struct Reached {
  double seconds;
  std::int64_t worth;
};

/// One contender on one instance.
struct Attempt {
  std::vector<Reached> reached;                              // by time; empty: nothing, see `why`
  std::int64_t generations = 0;                              // of the longest decision
  double until_s = std::numeric_limits<double>::infinity();  // it was not given longer: what it would have had later nobody knows
  bool is_plan = true;                                       // else a bound
  std::string why;
};

/// In the order of the tables: price, sruf-fill, optimus, pop, exact-choice, exact, ones, elastic-pollux, ones-plus, and ones-plus-all
/// where there are several threads.
std::vector<std::string> search_contenders();
/// Whether there is hope that it ends in reasonable time on so many GPUs, and whether it is of this kind.
bool takes_part(const std::string& contender, const SearchKind& kind, std::int64_t gpus);

/// Decisions by the instance's warm engine, each from nothing kept, everything included: choice, bound, places, reasons, validation.
///
/// price, optimus, pop   one number: the median time of three decisions, after one more; of one, if that takes over kSlow_s. So of
/// sruf-fill, which is no policy
///                       (bench/search/rule_plan.hpp).
/// exact-choice          what GLPK finds is the best choice of shapes, without places: no plan. In its time, that of the solver alone.
/// exact                 the plan that the walk makes of this choice; in the solver's time and that of the plan.
/// ones, elastic-pollux  decisions of ever more generations, each a search from the start, as long as the budget is enough for another.
///                       elastic-pollux makes its published 100 generations in any case that takes no longer than kPolluxMost_s.
/// ones-plus             one decision with the budget. A step counts from when a decision that ended there would have returned.
///
/// price, optimus, pop and ones-plus want what the kind wants; ones and elastic-pollux have wishes of their own, and their plans are
/// valued by the kind's objective all the same. exact-choice and exact are asked for where the sum is separable.
Attempt attempt(SearchInstance& instance, const SearchKind& kind, const std::string& contender, const SearchAxes& axes);

/// What one decision of ones-plus on one thread is worth.
std::int64_t worth_of_variant(SearchInstance& instance, const SearchKind& kind, const SearchVariant& variant, std::uint64_t seed,
                              double budget_ms);

}  // namespace berth::bench
