#pragma once

#include <cassert>

#include "berth/kernel/ones/rules.hpp"

/// The score of an individual: docs/ones.md section 4.
namespace berth::kernel {

/// Remaining GPU-milliseconds of a job that is not fresh.
BERTH_HD inline std::int64_t ones_term(const OnesView& v, std::int32_t job, std::int32_t gpus, std::int64_t left) {
  assert(ones_option(v, job, gpus) >= 0);
  const std::int64_t most = kMostOnesWork / v.n_jobs;
  const Wide term = Wide{left} * gpus * 1000 / v.option_rate[ones_option(v, job, gpus)];
  return term < most ? static_cast<std::int64_t>(term) : most;
}

/// @param count  [n_jobs] GPUs of each job
/// @param left   [n_jobs] remaining work by the progress that is drawn
/// @returns the sum over the jobs that are not fresh, in every thread; lower is better
template <class Group>
BERTH_HD std::int64_t ones_score(Group& g, const OnesView& v, const std::int32_t* count, const std::int64_t* left) {
  std::int64_t score = 0;
  for (std::int32_t j = g.rank(); j < v.n_jobs; j += g.size()) {
    if (v.fresh[j] == 0 && count[j] > 0) score += ones_term(v, j, count[j], left[j]);
  }
  return g.sum(score);
}

}  // namespace berth::kernel
