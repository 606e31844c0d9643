#pragma once

#include <cstdint>

#include "berth/kernel/base/host_device.hpp"
#include "berth/kernel/base/problem.hpp"

namespace berth::kernel {

/// Scores (job, domain) pairs; see docs/placement.md section 9.
struct ScoreQuery {
  std::int32_t n;                   // jobs
  const std::int32_t* jobs;         // [n] indices of jobs
  const TimeUs* option_run;         // [options] predicted run time of each option, kNever: not known
  std::int32_t topology, level;     // of the candidate domains; level 0: nodes
  std::int64_t leftover_weight;     // GPU-milliseconds per GPU left free in the domain
  const std::int64_t* domain_cost;  // [domains of the level, or nodes] GPU-milliseconds added; null: none
  std::int32_t k;                   // 1..kMaxBest
  TimeUs now;                       // instant at which the jobs would start; matters where node_until is finite
};

inline constexpr std::int32_t kMaxBest = 16;

/// One candidate; `where` is a domain id, or a node rank at level 0.
struct CandidateRow {
  std::int64_t score;        // GPU-milliseconds, smallest first; ties: option, then where
  std::int64_t gpu_time_ms;  // term: GPUs times predicted run time, saturated; 0 when not known
  std::int64_t leftover;     // term: GPUs left free in the domain
  std::int32_t option;       // row of `options` relative to the job's first; kNone: no candidate
  std::int32_t where;
};

}  // namespace berth::kernel
