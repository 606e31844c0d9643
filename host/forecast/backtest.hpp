#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "berth/forecast.hpp"
#include "berth/snapshot.hpp"
#include "berth/trace.hpp"

namespace berth::sim {

/// A check of forecasts on a trace: docs/when.md, "Check it on your own history".
///
/// The trace is simulated under the policy, and its starts are the truth. At instants all jobs that wait are asked about, with a
/// history that ends there.
struct BacktestSettings {
  Request request;
  std::int32_t futures = 200;
  TimeUs from_us = 0, to_us = kNever;  ///< instants that are reported; since the first submission
  TimeUs every_us = 6 * 3'600 * kSecond;
  TimeUs learn_us = 28 * 86'400 * kSecond;  ///< levels are learned from instants for this long before; 0: they are not
  ForecastLevels levels{50'000, 950'000};   ///< nominal
  std::int32_t limit_factor = 0;            ///< > 0: jobs without a limit get one (`draw_limits`)
  std::function<void(std::int32_t, std::int32_t)> progress;
};

/// Figures of some of the jobs that were asked about.
struct Coverage {
  std::string name;
  std::int64_t asked = 0, jobs = 0;
  std::int64_t covered = 0, raw_covered = 0, past_covered = 0;  ///< by the interval, without learned levels, by past waits
  std::int64_t above = 0;                                       ///< starts after the interval
  double score_s = 0, raw_score_s = 0, past_score_s = 0;        ///< means of the interval score
  double width_s = 0, past_width_s = 0;
  double limits_error_s = 0, median_error_s = 0;  ///< means of absolute errors
  double coverage_low = 0, coverage_high = 0;     ///< 95 % interval of the coverage, by days
};

struct Backtest {
  std::int64_t instants = 0, without_history = 0;
  LevelsByHorizon last_levels;  ///< learned at the last instant
  std::vector<Coverage> rows;   ///< all; each job once, when it is asked about first; by queue; by size; by week
};

/// Limits as users ask for them: the run time times a factor from 1 to `factor`, up to a usual limit (15 min to 60 days).
void draw_limits(Trace& trace, std::int32_t factor, std::uint64_t seed);

/// @throws as `simulate`; InvalidArgument where counts of GPUs do not decide
Backtest backtest(Trace trace, const Snapshot& cluster, const BacktestSettings& settings);

}  // namespace berth::sim
