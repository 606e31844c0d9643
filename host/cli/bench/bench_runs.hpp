#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "host/backend/backend.hpp"
#include "host/cli/bench/bench_machine.hpp"
#include "host/report/value_over_time.hpp"

/// The parts of `berth bench --suite headline` and their results. An interrupted part has what was measured until then.
namespace berth::cli {

/// A backend and its threads.
struct BenchSide {
  std::string name;  ///< "1 thread", "8 threads", "cuda"
  Backend backend = Backend::kCpu;
  int threads = 1;
  std::string device = {};  ///< of the backend cuda; empty: the first that can be used
};

/// @throws core::DeviceError where a GPU cannot be used
std::unique_ptr<core::PlacementBackend> backend_of(const BenchSide& side);

struct BenchOrder {
  std::vector<BenchSide> sides;  ///< one thread first
  std::uint64_t seed = 1;
  bool quick = false;
  std::function<bool()> go_on;                       ///< false once the run is to stop
  std::function<void(const std::string&)> left_out;  ///< called for a side that failed at a size, with the reason
};

/// One budget of one side: the run with the median value of several.
struct SearchRun {
  std::string side;
  TimeUs budget_us = 0;
  report::ValueOverTime found;
};

/// The search over whole plans on one instance, next to the prices that it starts from.
struct SearchSize {
  std::int32_t gpus = 0, jobs = 0;
  std::int64_t bound = 0, price_value = 0;
  double price_placed_s = 0, price_s = 0;  ///< until its choice was placed; until its plan was complete
  std::vector<SearchRun> runs;
};
struct SearchRequest {
  std::int32_t gpus, jobs;
  std::vector<TimeUs> budgets;
};
/// From the smallest to the largest instance.
std::vector<SearchRequest> search_requests(bool quick);
/// @throws InternalError when two sides give different results for the same work
SearchSize measure_search(const BenchOrder& order, const SearchRequest& wanted);
/// The score of a run at that instant. @returns false: none yet.
bool score_at(const SearchRun& run, double seconds, std::int64_t& score);

struct PassesRun {
  std::string side;
  std::vector<double> seconds;  ///< of each run
  double median_s = 0;
  std::int64_t placed = 0;  ///< jobs, in all scenarios together
};
/// Many what-if passes over one state at once.
struct PassesSize {
  std::int32_t scenarios = 0, jobs = 0, nodes = 0;
  std::vector<PassesRun> runs;
};
std::vector<PassesSize> passes_sizes(bool quick);
/// @throws InternalError when two sides give different results
void measure_passes(const BenchOrder& order, PassesSize& size);

struct DecisionsRun {
  std::string side;
  std::int32_t decisions = 0;
  double p50_s = 0, p99_s = 0, sum_s = 0;
  std::int64_t gpus_used = 0;  ///< after the first ten, which every side makes
};
/// Consecutive decisions on a cluster in use, with some changes before each.
struct DecisionsSize {
  std::string policy;
  std::int32_t nodes = 0, jobs = 0, decisions = 0;
  std::vector<DecisionsRun> runs;
};
std::vector<DecisionsSize> decisions_sizes(bool quick);
void measure_decisions(const BenchOrder& order, DecisionsSize& size);

struct ReplaysRun {
  std::string side;
  std::vector<double> seconds;  ///< of each run
  double median_s = 0;
  double mean_jct_s = 0;  ///< of all jobs of all replays
};
/// Many replays of one trace at once, under a queue policy with parameters that differ: what a user gets, in closed loop.
struct ReplaysSize {
  std::string policy;
  std::int32_t replays = 0, jobs = 0, nodes = 0;
  std::vector<ReplaysRun> runs;
};
std::vector<ReplaysSize> replays_sizes(bool quick);
/// @throws InternalError when two sides give different results
void measure_replays(const BenchOrder& order, ReplaysSize& size);

struct BenchReport {
  std::uint64_t seed = 1;
  bool quick = false;
  bool complete = false;  ///< false: interrupted
  double seconds = 0;
  MachineFacts machine;
  ClockReading before, after;
  std::vector<std::string> warnings;
  std::vector<BenchSide> sides;
  std::vector<SearchSize> search;
  std::vector<PassesSize> passes;
  std::vector<DecisionsSize> decisions;
  std::vector<ReplaysSize> replays;
};
/// A speed or an outcome of one operation on each side; NaN: not measured there.
struct BenchComparison {
  std::string operation, unit;
  bool less_is_better = false;
  double cpu_one = 0, cpu_all = 0, gpu = 0;
};
/// Each operation's speed, and below it its outcome, so that a faster and worse answer shows.
std::vector<BenchComparison> compare_sides(const BenchReport& report);
/// One sentence for each case where many cores or the GPU are slower than one core, or the search gains nothing over
/// prices.
std::vector<std::string> losing(const BenchReport& report);
std::string bench_text(const BenchReport& report);
/// A document berth.bench.v1.
std::string bench_json(const BenchReport& report);
std::string bench_schema();

}  // namespace berth::cli
