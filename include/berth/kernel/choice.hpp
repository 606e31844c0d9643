#pragma once

#include <cstdint>

/// Which of its shapes each job takes, when what a plan is worth is a sum over jobs: docs/prices.md section 1.
namespace berth::kernel {

inline constexpr std::int32_t kMaxChoiceTypes = 32;
inline constexpr std::int32_t kMaxChoiceJobs = 1 << 20;
inline constexpr std::int64_t kMaxChoiceValue = std::int64_t{1} << 40;
inline constexpr std::int32_t kMaxChoiceGpus = 1 << 20;
inline constexpr std::int64_t kMaxChoiceCapacity = std::int64_t{1} << 30;

/// What may be chosen. A job takes one of its options, or none, which is worth 0.
struct ChoiceView {
  std::int32_t n_jobs;
  std::int32_t n_types;
  const std::int64_t* capacity;      // [n_types] GPUs
  const std::int32_t* option_begin;  // [n_jobs + 1]
  const std::int32_t* type;          // [options]
  const std::int32_t* gpus;          // [options] >= 1
  const std::int64_t* value;         // [options]
};

struct ChoiceRequest {
  std::int64_t gap_ppm;           // good enough: so many millionths of the bound
  std::int32_t most_evaluations;  // >= 1
  bool bound_only;                // prices and bound; nothing is chosen
  const std::int64_t* prices;     // [n_types] of an earlier decision; null: none
};

/// Output columns; the caller provides them.
struct ChoiceResult {
  std::int32_t* option;       // [n_jobs] relative to the job's first, -1: none
  std::int64_t* price;        // [n_types] value of one GPU
  std::int64_t* used;         // [n_types] GPUs
  std::int64_t* value;        // [1] of the choice
  std::int64_t* bound;        // [1] of any choice
  std::int32_t* evaluations;  // [1] work: repeats the answer as `most_evaluations`
};

}  // namespace berth::kernel
