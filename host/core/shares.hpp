#pragma once

#include <cstdint>
#include <vector>

namespace berth::core {

/// How much of the time each job is to run on each GPU type, so that the job that fares worst fares as well as can be: Gavel's programmes
/// (OSDI'20) without packing. A job whose speed is v, averaged over time, has the level v / (need + waited v). docs/shares.md.
struct ShareProblem {
  std::int32_t n_jobs = 0;
  std::int32_t n_types = 0;
  std::vector<double> capacity;  // [types] GPUs
  std::vector<double> gpus;      // [jobs][types] that the job takes while it runs there
  std::vector<double> speed;     // [jobs][types] 0: it cannot run there
  std::vector<double> need;      // [jobs] > 0
  std::vector<double> waited;    // [jobs] >= 0; counts up to 10^6 need / the greatest speed
};

struct Shares {
  std::vector<double> share;  // [jobs][types] parts of the time; of a job at most 1 in all
  std::vector<double> price;  // [types] of all GPUs of the type, 1 in sum: they prove the bound
  double level = 0;           // of every job that can run anywhere, at least
  double bound = 0;           // no shares bring all of these higher
  std::int32_t rounds = 0;    // work: prices tried
};

/// The highest level that all jobs could have, were only all GPUs together limited at these prices: no shares bring them higher.
/// @param price  [types] >= 0, some above.
double level_bound(const ShareProblem& problem, std::vector<double> price);

}  // namespace berth::core
