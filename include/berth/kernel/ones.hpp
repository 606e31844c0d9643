#pragma once

#include <cstdint>

/// The evolution of ONES (SC'21) over how many GPUs each job has: docs/ones.md. Columns are by job rank unless they say otherwise.
namespace berth::kernel {

inline constexpr std::int32_t kOnesUnit = 1 << 30;  // of progress: all is done
inline constexpr std::int32_t kOnesQuantiles = 65;
inline constexpr std::int64_t kMostOnesWork = std::int64_t{1} << 62;
inline constexpr std::int32_t kMostOnesPopulation = 1 << 16;
inline constexpr std::int32_t kMostOnesSlots = 1 << 24;
inline constexpr std::int32_t kMostOnesJobs = 1 << 20;

/// What a number is drawn for.
enum class OnesPurpose : std::uint32_t { kRemaining, kPairs, kCrossing, kMutation, kFirst };

struct OnesView {
  std::int32_t slots;  // GPUs
  std::int32_t n_jobs;
  std::int32_t population;  // >= 1
  std::int32_t theta_ppm;   // chance that mutation removes a job
  std::uint64_t seed;
  const std::int32_t* step_begin;  // [n_jobs + 1]; every job has a step
  const std::int32_t* step_gpus;   // [steps] ascending within a job, 1 .. slots
  const std::int64_t* step_rate;   // [steps] > 0
  const std::uint8_t* fresh;
  const std::int32_t* start;     // of a fresh job: one of its steps
  const std::int32_t* limit;     // of one that is not
  const std::int32_t* most;      // the same, where GPUs would idle else
  const std::int64_t* work;      // done, 0 .. kMostOnesWork
  const std::int32_t* progress;  // [n_jobs * kOnesQuantiles] quantiles, 0 .. kOnesUnit
  // Where jobs are now; disjoint.
  const std::int32_t* deployed_first;
  const std::int32_t* deployed_count;  // 0: nowhere
};

struct OnesRequest {
  std::int32_t first_generation;  // its number; numbers wrap around at 2^31
  std::int32_t generations;       // >= 0
  // [population * n_jobs] blocks of the population to go on from, disjoint in each individual, counts 0 or steps; null: the first one.
  const std::int32_t* first;
  const std::int32_t* count;
};

/// Output columns; the caller provides them.
struct OnesResult {
  std::int32_t* first;        // [population * n_jobs] 0 where nothing is held
  std::int32_t* count;        // [population * n_jobs]
  std::int64_t* score;        // [population] ascending; 0 before the first generation
  std::int64_t* least;        // [generations] score of the best after each
  std::int32_t* generations;  // [1] that were made: asked for, they repeat the answer
};

}  // namespace berth::kernel
