#pragma once

#include <cstdint>

#include "host/sim/figures.hpp"

namespace berth::sim {

/// How evenly completed jobs were served.
struct Fairness {
  Spread rho_ppm;             ///< finish-time fairness; 1,000,000: as long as with a fair share, more: worse
  std::int64_t jain_ppm = 0;  ///< Jain's index of 1 / rho over jobs: 1,000,000 when all are equal, 1 / n when one has all
};

/// Finish-time fairness (Themis, NSDI'20; Gavel, OSDI'20): rho = JCT / the JCT of the job alone on 1/N of the cluster.
///
/// N is the mean number of jobs that were there, running or waiting, between the submission of the job and its end (Themis' mean
/// contention). Alone on its share of M/N of the M GPUs a job runs for its run time, and where it asks for g > M/N GPUs, g N / M times as
/// long: it has them for that part of the time. The run time is that of the trace, or the time worked where the trace states none. Of the
/// whole cluster, whatever its GPU types and virtual clusters are; both of these are our reconstruction.
///
/// The index is (sum x)^2 / (n sum x^2), Jain, Chiu, Hawe: "A Quantitative Measure of Fairness and Discrimination" (1984), of x = 1 / rho.
class FairnessOf {
 public:
  /// @param gpus  M.
  explicit FairnessOf(std::int64_t gpus) : gpus_(gpus < 1 ? 1 : gpus) {}

  /// Every job that `simulate` tells of. @returns rho in millionths, rounded down; 0 for a job that did not complete.
  std::int64_t add(const JobOutcome& job);
  Fairness finish();

 private:
  std::int64_t gpus_;
  SpreadOf rho_;
  __int128 sum_ = 0, squares_ = 0;  // of 1 / rho
};

}  // namespace berth::sim
