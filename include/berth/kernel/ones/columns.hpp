#pragma once

#include <cstdint>

#include "berth/kernel/base/columns.hpp"

/// The evolution of ONES (SC'21) of the number of GPUs of each job: docs/ones.md. Columns are by job rank unless stated otherwise.
namespace berth::kernel {

inline constexpr std::int32_t kOnesUnit = 1 << 30;  // of progress: all work is done
inline constexpr std::int32_t kOnesQuantiles = 65;
inline constexpr std::int64_t kMostOnesWork = std::int64_t{1} << 62;
inline constexpr std::int32_t kMostOnesPopulation = 1 << 16;
inline constexpr std::int32_t kMaxOnesGpus = 1 << 24;
inline constexpr std::int32_t kMostOnesJobs = 1 << 20;

/// Purposes of random numbers.
enum class OnesPurpose : std::uint32_t { kRemaining, kPairs, kCrossover, kMutation, kFirst };

struct OnesView {
  std::int32_t n_gpus;
  std::int32_t n_jobs;
  std::int32_t population;  // >= 1
  std::int32_t theta_ppm;   // probability that mutation removes a job
  std::uint64_t seed;
  std::int64_t waiting;              // factor of the smallest option at which work is scored that waits; 0: it is not
  const std::int32_t* option_begin;  // [n_jobs + 1]; every job has an option
  const std::int32_t* option_gpus;   // [options] ascending within a job, 1 .. n_gpus
  const std::int64_t* option_rate;   // [options] > 0
  const std::uint8_t* fresh;
  const std::int32_t* start;     // of a fresh job: one of its options
  const std::int32_t* limit;     // maximum of a job that is not fresh
  const std::int32_t* most;      // the same, where GPUs would otherwise be idle
  const std::int64_t* work;      // work done, 0 .. kMostOnesWork
  const std::int32_t* progress;  // [n_jobs * kOnesQuantiles] quantiles, 0 .. kOnesUnit
  // Current allocation of the jobs; disjoint.
  const std::int32_t* deployed_first;
  const std::int32_t* deployed_count;  // 0: none
};

struct OnesRequest {
  std::int32_t first_generation;  // number of the first generation; numbers wrap around at 2^31
  std::int32_t generations;       // >= 0
  // [population * n_jobs] blocks of the population to continue, disjoint in each individual, counts 0 or options; null: initialise one
  const std::int32_t* first;
  const std::int32_t* count;
};

/// Output columns; the caller provides them.
struct OnesResult {
  std::int32_t* first;        // [population * n_jobs] 0 where the job has no GPUs
  std::int32_t* count;        // [population * n_jobs]
  std::int64_t* score;        // [population] ascending; 0 before the first generation
  std::int64_t* least;        // [generations] score of the best after each
  std::int32_t* generations;  // [1] generations done: as a request they reproduce the answer
};

// for_each_column: see base/columns.hpp. `v` is the problem whose sizes count.

template <class Visit, ViewOf<OnesView>... Views>
void for_each_column(const OnesView& v, Visit&& visit, Views&... views) {
  const std::int64_t jobs = v.n_jobs, options = v.option_begin[v.n_jobs];
  visit(jobs + 1, views.option_begin...);
  visit(options, views.option_gpus...);
  visit(options, views.option_rate...);
  visit(jobs, views.fresh...);
  visit(jobs, views.start...);
  visit(jobs, views.limit...);
  visit(jobs, views.most...);
  visit(jobs, views.work...);
  visit(jobs * kOnesQuantiles, views.progress...);
  visit(jobs, views.deployed_first...);
  visit(jobs, views.deployed_count...);
}
static_assert(sizeof(OnesView) == 120, "OnesView changed: list its new columns above, then change this number");

/// `generations`: how many were made, or are to be made.
template <class Visit, ViewOf<OnesResult>... Views>
void for_each_column(const OnesView& v, std::int64_t generations, Visit&& visit, Views&... views) {
  const std::int64_t all = std::int64_t{v.population} * v.n_jobs, one = 1;
  visit(all, views.first...);
  visit(all, views.count...);
  visit(std::int64_t{v.population}, views.score...);
  visit(generations, views.least...);
  visit(one, views.generations...);
}
static_assert(sizeof(OnesResult) == 40, "OnesResult changed: list its new columns above, then change this number");

}  // namespace berth::kernel
