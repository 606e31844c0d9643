#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "bench/plan_search/instance.hpp"

namespace berth::bench {

/// Result of a contender: after this number of seconds it has a plan of this objective value.
struct ReachedValue {
  double seconds;
  std::int64_t value;
};

/// One contender on one instance.
struct SearchAttempt {
  std::vector<ReachedValue> reached;                         // by time; empty: none, see `why`
  std::int64_t generations = 0;                              // of the longest decision
  double until_s = std::numeric_limits<double>::infinity();  // it had no more time than this: later values are not known
  bool is_plan = true;                                       // else a bound
  std::string why;
};

/// In the order of the tables: price, sruf-fill, optimus, pop, exact-choice, exact, ones, elastic-pollux, ones-plus, and ones-plus-all
/// where there are several threads.
std::vector<std::string> search_contenders();
/// Whether it can end in reasonable time on N GPUs, and whether it applies to this kind.
bool takes_part(const std::string& contender, const SearchKind& kind, std::int64_t gpus);

/// Decisions by the instance's warm engine, each from scratch and complete: choice, bound, places, reasons, validation.
///
/// price, optimus, pop   one value: the median time of three decisions after a warm-up; of one, if that takes over
///                       kSlow_s. The same for sruf-fill, which is no policy (bench/plan_search/rule_plan.hpp).
/// exact-choice          the best choice of options by GLPK, without places: no plan. Its time is the solver's alone.
/// exact                 the plan that the pass makes of this choice; in the time of the solver and of the plan.
/// ones, elastic-pollux  decisions of ever more generations, each a search from the start, while the budget lasts.
///                       elastic-pollux always makes its published 100 generations, unless that exceeds kPolluxMost_s.
/// ones-plus             one decision with the budget. A step counts from when a decision that ended there would have
///                       returned.
///
/// price, optimus, pop and ones-plus optimise the kind's objective. ones and elastic-pollux have their own, but their
/// plans are still valued by the kind's. exact-choice and exact run where the sum is separable.
SearchAttempt attempt(SearchInstance& instance, const SearchKind& kind, const std::string& contender, const SearchAxes& axes);

/// The objective value of one decision of ones-plus on one thread.
std::int64_t value_of_variant(SearchInstance& instance, const SearchKind& kind, const SearchVariant& variant, std::uint64_t seed,
                              double budget_ms);

}  // namespace berth::bench
