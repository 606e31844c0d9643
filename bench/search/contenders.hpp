#pragma once

#include <cstdint>
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
  std::vector<Reached> reached;  // by time
  std::int64_t generations = 0;  // of the longest decision
};

/// In the order of the tables: price, optimus, pop, ones, elastic-pollux, ones-plus, and ones-plus-all where there are several threads.
std::vector<std::string> search_contenders();
/// Whether it ends in reasonable time on so many GPUs.
bool takes_part(const std::string& contender, std::int64_t gpus);

/// Decisions by the instance's warm engine, each from nothing kept, everything included: choice, bound, places, reasons, validation.
///
/// price, optimus, pop   one number: the median time of three decisions, after one more.
/// ones, elastic-pollux  decisions of ever more generations, each a search from the start, as long as the budget is enough for another.
///                       elastic-pollux makes its published 100 generations in any case that takes no longer than kPolluxMost_s.
/// ones-plus             one decision with the budget. A step counts from when a decision that ended there would have returned.
///
/// price, optimus, pop and ones-plus want what the kind wants; ones and elastic-pollux have wishes of their own, and their plans are
/// valued by the kind's objective all the same.
Attempt attempt(SearchInstance& instance, const SearchKind& kind, const std::string& contender, double budget_ms);

/// What one decision of ones-plus on one thread is worth.
std::int64_t worth_of_variant(SearchInstance& instance, const SearchKind& kind, const SearchVariant& variant, std::uint64_t seed,
                              double budget_ms);

}  // namespace berth::bench
