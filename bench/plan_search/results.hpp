#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth::bench {

/// Over instances.
struct MedianRange {
  double median = 0, lowest = 0, highest = 0;
};
/// @param values  not empty
MedianRange spread_of(std::vector<double> values);

/// A row of the result: a contender on a cell (cluster, kind, size), or a variant of the ablation there.
struct SearchRow {
  std::string section;  // "search" or "ablation"
  std::string cluster, kind;
  std::int64_t gpus = 0, jobs = 0;
  std::string contender;  // or variant
  std::int64_t plans = 0;
  std::string note;      // why it has no result
  double budget_ms = 0;  // of the search; 0: none
  MedianRange last_ms;   // when it first had its final value
  MedianRange generations;
  MedianRange bound_gap, best_gap;  // final gaps in per cent: to the separable bound, and to the best value of any plan in this run. The
                                    // latter is below 0 for a contender that is no plan
  // At each of SearchResult::times_ms; none where some instance has no plan by then, or the budget is over.
  std::vector<std::optional<MedianRange>> bound_gap_at, best_gap_at;
};

/// Facts about an instance.
struct SearchFacts {
  std::string cluster, kind;
  std::int64_t gpus = 0, seed = 0;
  std::string hash;
  std::int64_t bound = 0, best = 0;
  std::string best_by;
};

struct SearchResult {
  std::vector<double> times_ms;
  std::vector<SearchRow> rows;
  std::vector<SearchFacts> facts;
};

/// Writes the result with the facts about the host from Google Benchmark, in the outer format of its files. @throws
/// std::runtime_error
void write_result(const SearchResult& result, const std::string& path);
/// Reads a written result, without `facts`. @throws InputError, naming the location
SearchResult read_result(const std::string& path);

}  // namespace berth::bench
