#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/policy_api/shape_policy.hpp"

/// For policies that start with every job's smallest shape and add GPUs step by step.
/// All GPUs of a job are of one type, and a job keeps its first type.
/// So free GPUs only decrease, and a shape that does not fit once never will.
namespace berth::policy {

class ShapeSteps {
 public:
  /// Starts with no job placed.
  void begin(const core::ShapeQuestion& question, std::span<std::int32_t> chosen);

  std::int32_t jobs() const { return problem_.n_jobs; }
  std::int32_t types() const { return problem_.n_types; }
  std::int64_t free(std::int32_t type) const { return free_[to_index(type)]; }
  /// First row of the options of a job.
  std::int32_t first(std::int32_t job) const { return problem_.option_begin[job]; }
  std::int32_t last(std::int32_t job) const { return problem_.option_begin[job + 1]; }
  /// The row of the job; -1: none.
  std::int32_t row(std::int32_t job) const { return chosen_[to_index(job)] < 0 ? -1 : first(job) + chosen_[to_index(job)]; }
  /// Remaining time, including the cost of the change.
  TimeUs left(std::int32_t k) const;
  std::int64_t speed(std::int32_t k) const { return shapes_[to_index(k)].speed; }
  std::int32_t gpus(std::int32_t k) const { return problem_.gpus[k]; }
  std::int32_t type(std::int32_t k) const { return problem_.type[k]; }

  /// On each type the shape with the fewest GPUs that fits (ties: the fastest); of these the fastest, within the current
  /// type for a running job. Ties: fewest GPUs, first.
  /// A shape without speed counts only where the job runs in it and no other fits. -1: none fits.
  std::int32_t smallest(std::int32_t job) const;
  /// Whether row k may replace the job's row: more GPUs of the same type, which are free, and some speed.
  bool follows(std::int32_t job, std::int32_t k) const;
  void give(std::int32_t job, std::int32_t k);

 private:
  kernel::PriceView problem_{};
  std::span<const core::ChoiceOption> options_;
  std::span<const kernel::ShapeTerms> shapes_;
  std::span<std::int32_t> chosen_;
  std::vector<std::int64_t> free_;
};

}  // namespace berth::policy
