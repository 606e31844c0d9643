#pragma once

#include <cstdint>

#include "host/sim/measures/figures.hpp"

namespace berth::sim {

/// Fairness between completed jobs.
struct Fairness {
  Distribution rho_ppm;       ///< finish-time fairness; 1,000,000: as with a fair share, larger: worse
  std::int64_t jain_ppm = 0;  ///< Jain's index of 1 / rho over jobs: 1,000,000 when all are equal, 1 / n when one job has everything
};

/// Finish-time fairness (Themis, NSDI'20; Gavel, OSDI'20): rho = JCT / the JCT of the job alone on 1/N of the cluster.
///
/// N is the mean number of running or waiting jobs between the submission of the job and its end (Themis' mean contention).
/// On its share of M/N of the M GPUs a job runs for its run time; a job of g > M/N GPUs takes g N / M times as long.
/// The run time is that of the trace, or the time worked where the trace states none.
/// The share is of the whole cluster, regardless of GPU types and virtual clusters. Both are our reconstruction.
///
/// The index is (sum x)^2 / (n sum x^2) of x = 1 / rho. Jain, Chiu, Hawe: "A Quantitative Measure of Fairness and Discrimination"
/// (1984).
class FairnessOf {
 public:
  /// @param gpus  M.
  explicit FairnessOf(std::int64_t gpus) : gpus_(gpus < 1 ? 1 : gpus) {}

  /// Adds a job that `simulate` reports. @returns rho in millionths, rounded down; 0 for a job that did not complete.
  std::int64_t add(const JobOutcome& job);
  Fairness finish();

 private:
  std::int64_t gpus_;
  SpreadOf rho_;
  __int128 sum_ = 0, squares_ = 0;  // of 1 / rho
};

}  // namespace berth::sim
