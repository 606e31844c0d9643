#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "host/sim/simulation.hpp"

namespace berth::sim {

/// Of one quantity over jobs: mean (rounded down), and values at ranks ceil(p n / 100) of the n sorted ones; 0 where there are none.
struct Spread {
  std::int64_t mean = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;
};
Spread spread_of(std::vector<std::int64_t>& values);

/// What a run came to. Times are of completed jobs; of jobs cut off by the end of the run there are none.
struct SimulationFigures {
  std::int64_t completed = 0, declined = 0, unfinished = 0, killed = 0;
  Spread jct_us;                         ///< from submission to the end
  Spread wait_us;                        ///< of it, without GPUs
  Spread first_us;                       ///< from submission to the first start
  TimeUs makespan_us = 0;                ///< from the first submission to the last completion, or to where an interrupted run stopped
  std::int64_t gpu_utilisation_ppm = 0;  ///< GPU-time that jobs had, of all that there was until the last of it was given back
  std::int64_t goodput_ppm = 0;          ///< the same of GPU-time in which jobs worked
  std::int64_t effective_ppm = 0;        ///< GPU-time in which jobs worked, of what they had; 0 when they had none
  std::int64_t overhead_ppm = 0;         ///< of the time for which completed jobs had GPUs, what changes cost
  std::int64_t starts = 0, preemptions = 0, moves = 0, failures = 0, mends = 0;
  __int128 gpu_us = 0;                          ///< GPU-time that jobs had, also those that did not complete
  std::array<__int128, kLosses> lost_gpu_us{};  ///< of it, without work, by cause
};

/// How long the decision at this percentile took, in microseconds; 0 where none was timed.
std::int64_t decision_us(const SimulationTotals& totals, std::size_t percent);

/// Gathers what `simulate` tells of each job.
class FiguresOf {
 public:
  /// @param jobs  That will be told of, about.
  explicit FiguresOf(std::size_t jobs = 0);
  void add(const JobOutcome& job);
  SimulationFigures finish(const SimulationTotals& totals);

 private:
  SimulationFigures figures_;
  std::vector<std::int64_t> jct_, wait_, first_;
  __int128 held_ = 0, overhead_ = 0;
};

}  // namespace berth::sim
