#pragma once

#include <cstdint>
#include <vector>

namespace berth::core {

/// The part of the time that each job runs on each GPU type, so that the lowest level of any job is as high as
/// possible. These are Gavel's programs (OSDI'20) without packing. A job with average speed v has the level v / (need +
/// waited v). See docs/shares.md.
struct ShareProblem {
  std::int32_t n_jobs = 0;
  std::int32_t n_types = 0;
  std::vector<double> capacity;  // [types] GPUs
  std::vector<double> gpus;      // [jobs][types] GPUs that the job uses while it runs there
  std::vector<double> speed;     // [jobs][types] 0: it cannot run there
  std::vector<double> need;      // [jobs] > 0
  std::vector<double> waited;    // [jobs] >= 0; counts up to 10^6 need / the greatest speed
};

struct Shares {
  std::vector<double> share;  // [jobs][types] parts of the time; at most 1 in total for a job
  std::vector<double> price;  // [types] of all GPUs of the type, 1 in total: they prove the bound
  double level = 0;           // lowest level of all jobs that can run
  double bound = 0;           // upper bound of the lowest level over all shares
  std::int32_t rounds = 0;    // number of prices tried
};

/// The highest level that all jobs could have if only the total cost at these prices were limited: an upper bound for
/// all shares.
/// @param price  [types] >= 0, some above.
double level_bound(const ShareProblem& problem, std::vector<double> price);

}  // namespace berth::core
