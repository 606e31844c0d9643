#pragma once

#include <cassert>

#include "berth/kernel/ones/rules.hpp"

/// The score of an individual: docs/ones.md section 4.
namespace berth::kernel {

/// GPU-milliseconds that `left` takes on as many times `gpus`, at the rate of that option.
BERTH_HD inline std::int64_t ones_term(const OnesView& v, std::int64_t left, std::int64_t gpus, std::int32_t option) {
  const std::int64_t most = kMostOnesWork / v.n_jobs;
  const Wide term = Wide{left} * gpus * 1000 / v.option_rate[option];
  return term < most ? static_cast<std::int64_t>(term) : most;
}

/// The term of a job that is not fresh.
BERTH_HD inline std::int64_t ones_job_score(const OnesView& v, std::int32_t job, std::int32_t gpus, std::int64_t left) {
  if (gpus == 0) {
    const std::int32_t least = v.option_begin[job];
    return v.waiting == 0 ? 0 : ones_term(v, left, v.waiting * v.option_gpus[least], least);
  }
  assert(ones_option(v, job, gpus) >= 0);
  return ones_term(v, left, gpus, ones_option(v, job, gpus));
}

/// @param count  [n_jobs] GPUs of each job
/// @param left   [n_jobs] remaining work by the progress that is drawn
/// @returns the sum over the jobs that are not fresh, in every thread; lower is better
template <class Group>
BERTH_HD std::int64_t ones_score(Group& g, const OnesView& v, const std::int32_t* count, const std::int64_t* left) {
  std::int64_t score = 0;
  for (std::int32_t j = g.rank(); j < v.n_jobs; j += g.size()) {
    if (v.fresh[j] == 0) score += ones_job_score(v, j, count[j], left[j]);
  }
  return g.sum(score);
}

}  // namespace berth::kernel
