#pragma once

#include <array>
#include <cstdint>

#include "host/sim/base/outcome.hpp"
#include "host/sim/base/spread.hpp"

namespace berth::sim {

/// The results of a run. Times are of completed jobs only, not of jobs cut off by the end of the run.
struct SimulationFigures {
  std::int64_t completed = 0, rejected = 0, unfinished = 0, killed = 0;
  Distribution jct_us;                   ///< from submission to the end
  Distribution wait_us;                  ///< part of `jct_us` without GPUs
  Distribution first_us;                 ///< from submission to the first start
  TimeUs makespan_us = 0;                ///< from the first submission to the last completion, or to the interruption of a run
  std::int64_t gpu_utilisation_ppm = 0;  ///< GPU-time allocated to jobs, relative to what was available until the last release
  std::int64_t goodput_ppm = 0;          ///< the same for GPU-time in which jobs worked
  std::int64_t effective_ppm = 0;        ///< GPU-time in which jobs worked, relative to what they had; 0 when they had none
  std::int64_t overhead_ppm = 0;         ///< fraction of the time of completed jobs with GPUs that changes cost
  std::int64_t starts = 0, preemptions = 0, moves = 0, failures = 0, repairs = 0;
  __int128 gpu_us = 0;                          ///< GPU-time of all jobs, including those that did not complete
  std::array<__int128, kLosses> lost_gpu_us{};  ///< part of `gpu_us` without work, by cause
};

/// Collects the jobs that `simulate` reports.
class FiguresOf {
 public:
  void add(const JobOutcome& job);
  SimulationFigures finish(const SimulationTotals& totals);

 private:
  SimulationFigures figures_;
  SpreadOf jct_, wait_, first_;
  __int128 held_ = 0, overhead_ = 0;
};

}  // namespace berth::sim
