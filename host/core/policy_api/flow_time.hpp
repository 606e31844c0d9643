#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/job.hpp"
#include "berth/kernel/price/objective.hpp"
#include "berth/units.hpp"

namespace berth {
class StateImpl;
}

/// The objective `flow_time`: what a second of a job's work costs all jobs. docs/objectives.md has the formulas.
namespace berth::core {

/// Where the work left of a job is known from; what is not exact has a distribution.
enum class WorkSource : std::uint8_t { kExact, kEstimate, kAttained };

/// A job's work left, in microseconds of one GPU, at least 1: exact, or the median of its distribution.
/// `kAttained`: the job has outlived its estimate or has none, so that only its attained service tells.
struct WorkLeft {
  std::int64_t one_gpu_us = 1;
  WorkSource source = WorkSource::kExact;
};

/// The mean work left over its median, rounded.
inline std::int32_t mean_over_median(WorkSource source) { return source == WorkSource::kAttained ? 13 : 1; }

/// @param reference  rate in the requested shape, 0: no rate of the job is known
WorkLeft work_left(const StateImpl& state, std::int32_t job, std::int64_t reference);
/// Run time of that work in the requested shape, at least 1.
TimeUs run_of(const WorkLeft& work, const StateImpl& state, std::int32_t job, std::int64_t reference);

/// A job among those that are ranked.
struct RankedJob {
  WorkLeft left;
  std::int64_t weight_ppm;  // >= 1; what is above kMostWeight counts as that
};

inline constexpr std::int64_t kMostWeight = std::int64_t{1} << 40;

/// What the priorities of jobs multiply their weights by: 2 for each lower priority that another of the jobs has, at
/// most 2^10.
class PriorityFactors {
 public:
  /// @param priorities  of the jobs
  void set(std::span<const std::int32_t> priorities);
  /// The weight of one of the jobs, times its factor.
  std::int64_t weight(const Job& job) const;

 private:
  std::vector<std::int32_t> present_;  // ascending, each once
};

/// Ranks by work left, largest first. Memory is kept between calls.
class FlowRanks {
 public:
  /// O(n log n). @param gpus  of the cluster, that work
  void set(std::span<const RankedJob> jobs, std::int64_t gpus);
  /// Sets the job's rank in its terms of `flow_time`; the others are set. @param shapes  of the job; O(shapes)
  void describe(std::size_t job, std::span<const kernel::ShapeTerms> shapes, kernel::JobTerms& terms) const;

 private:
  struct Keyed {
    std::int64_t key;
    std::int32_t job;
  };
  struct Rank {
    std::int64_t from;  // weight of the jobs with more work left, and eighths of that of the jobs with less
    std::int64_t to;    // `from` with the weight of the jobs of this rank
    std::int64_t own;   // part of `to` - `from`
  };
  std::int64_t expected_weight_above(std::int64_t key, std::int64_t own, WorkSource source) const;

  std::vector<Keyed> sorted_;         // most work for its weight first
  std::vector<std::int64_t> before_;  // [jobs + 1] weight of the jobs before one in `sorted_`
  std::vector<Rank> rank_;            // [jobs]
  std::int64_t gpus_ = 1;
};

}  // namespace berth::core
