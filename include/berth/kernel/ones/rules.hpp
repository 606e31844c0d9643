#pragma once

#include <cassert>

#include "berth/kernel/base/random.hpp"
#include "berth/kernel/base/wide.hpp"
#include "berth/kernel/ones/columns.hpp"

/// The rules of docs/ones.md for a single job.
namespace berth::kernel {

BERTH_HD inline Draws ones_draws(const OnesView& v, OnesPurpose purpose, std::int32_t individual, std::int32_t generation) {
  return {v.seed, static_cast<std::uint32_t>(purpose), static_cast<std::uint32_t>(individual), static_cast<std::uint32_t>(generation)};
}

/// The number of the n-th generation of a request.
BERTH_HD constexpr std::int32_t ones_generation(const OnesRequest& request, std::int32_t n) {
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(request.first_generation) + static_cast<std::uint32_t>(n)) & INT32_MAX);
}

/// The option with the most GPUs that is at most `gpus`; -1: none.
BERTH_HD inline std::int32_t ones_option(const OnesView& v, std::int32_t job, std::int32_t gpus) {
  std::int32_t low = v.option_begin[job] - 1, high = v.option_begin[job + 1];  // low: at most `gpus`; high: more
  while (high - low > 1) {
    const std::int32_t middle = low + (high - low) / 2;
    (v.option_gpus[middle] <= gpus ? low : high) = middle;
  }
  assert(low < v.option_begin[job] || v.option_gpus[low] <= gpus);
  return low < v.option_begin[job] ? -1 : low;
}

BERTH_HD inline std::int32_t ones_fit(const OnesView& v, std::int32_t job, std::int32_t gpus) {
  const std::int32_t option = ones_option(v, job, gpus);
  return option < 0 ? 0 : v.option_gpus[option];
}

/// The number of GPUs that a job keeps of `gpus`.
BERTH_HD inline std::int32_t ones_cut(const OnesView& v, std::int32_t job, std::int32_t gpus) {
  if (v.fresh[job] != 0) return gpus >= v.start[job] ? v.start[job] : 0;
  return ones_fit(v, job, gpus < v.limit[job] ? gpus : v.limit[job]);
}

/// The same for a parent, in which a fresh job has its start count or nothing.
BERTH_HD inline std::int32_t ones_refreshed(const OnesView& v, std::int32_t job, std::int32_t gpus) {
  if (v.fresh[job] != 0) return gpus == v.start[job] ? gpus : 0;
  return ones_cut(v, job, gpus);
}

/// Remaining work of a job that is not fresh, by the progress that is drawn.
BERTH_HD inline std::int64_t ones_left(const OnesView& v, std::int32_t job, std::int32_t generation) {
  const std::uint32_t number = ones_draws(v, OnesPurpose::kRemaining, 0, generation).number(job);
  const std::int32_t* const q = v.progress + std::int64_t{job} * kOnesQuantiles + (number >> 26);
  const std::int64_t part = (std::int64_t{q[1]} - q[0]) * (number & ((1U << 26) - 1));
  const std::int64_t rho = q[0] + (part >> 26);
  const Wide left = Wide{v.work[job]} * (kOnesUnit - (rho < 1 ? 1 : rho)) / (rho < 1 ? 1 : rho);
  return left < kMostOnesWork ? static_cast<std::int64_t>(left) : kMostOnesWork;
}

/// Milliseconds on the smallest option: the order in which jobs are served.
BERTH_HD inline std::int64_t ones_fill_key(const OnesView& v, std::int32_t job, std::int64_t left) {
  return mul_div(left, 1000, v.option_rate[v.option_begin[job]]);
}

}  // namespace berth::kernel
