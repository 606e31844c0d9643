#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/core/at.hpp"
#include "host/core/shape_policy.hpp"

/// For policies that begin with every job's smallest shape and give GPUs step by step. All GPUs of a job are of one type, and a job keeps
/// the type that it begins with: so what is free only falls, and what does not fit once never will.
namespace berth::policy {

class ShapeSteps {
 public:
  /// Nobody has anything.
  void begin(const core::ShapeQuestion& question, std::span<std::int32_t> chosen);

  std::int32_t jobs() const { return problem_.n_jobs; }
  std::int32_t types() const { return problem_.n_types; }
  std::int64_t free(std::int32_t type) const { return free_[at(type)]; }
  /// Rows of the options of a job.
  std::int32_t first(std::int32_t job) const { return problem_.option_begin[job]; }
  std::int32_t last(std::int32_t job) const { return problem_.option_begin[job + 1]; }
  /// What the job has; -1: nothing.
  std::int32_t row(std::int32_t job) const { return chosen_[at(job)] < 0 ? -1 : first(job) + chosen_[at(job)]; }
  /// Until the end, with what the change costs.
  TimeUs left(std::int32_t k) const;
  std::int64_t speed(std::int32_t k) const { return shapes_[at(k)].speed; }
  std::int32_t gpus(std::int32_t k) const { return problem_.gpus[k]; }
  std::int32_t type(std::int32_t k) const { return problem_.type[k]; }

  /// The smallest shape that fits: of the type that the job has, if it runs; then the one with the fewest GPUs; then the quickest; then
  /// the first. -1: none fits. A shape without speed is none.
  std::int32_t smallest(std::int32_t job) const;
  /// Whether row k could follow on what the job has: more GPUs of the same type, that are there, and some speed.
  bool follows(std::int32_t job, std::int32_t k) const;
  void give(std::int32_t job, std::int32_t k);

 private:
  kernel::ChoiceView problem_{};
  std::span<const core::ChoiceOption> options_;
  std::span<const kernel::ShapeTerms> shapes_;
  std::span<std::int32_t> chosen_;
  std::vector<std::int64_t> free_;
};

}  // namespace berth::policy
