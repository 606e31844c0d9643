#include "host/policy/base/shape_steps.hpp"

#include <tuple>

#include "host/core/base/wide.hpp"

namespace berth::policy {

void ShapeSteps::begin(const core::ShapeQuestion& question, std::span<std::int32_t> chosen) {
  problem_ = question.problem;
  options_ = question.options;
  shapes_ = question.shapes;
  chosen_ = chosen;
  free_.assign(problem_.capacity, problem_.capacity + problem_.n_types);
}

TimeUs ShapeSteps::left(std::int32_t k) const { return core::saturating_add(shapes_[to_index(k)].run, shapes_[to_index(k)].cost); }

std::int32_t ShapeSteps::smallest(std::int32_t job) const {
  std::int32_t held = -1, current = -1;
  for (std::int32_t k = first(job); k < last(job); ++k) {
    if (!options_[to_index(k)].current) continue;
    held = problem_.type[k];
    current = k;
  }
  // The smallest shape on each type, then the fastest of these.
  std::int32_t best = -1;
  for (std::int32_t t = 0; t < problem_.n_types; ++t) {
    std::int32_t here = -1;
    for (std::int32_t k = first(job); k < last(job); ++k) {
      if (problem_.type[k] != t || speed(k) <= 0 || problem_.gpus[k] > free_[to_index(t)]) continue;
      if (here < 0 || std::tuple(problem_.gpus[k], left(k)) < std::tuple(problem_.gpus[here], left(here))) here = k;
    }
    const auto rank = [&](std::int32_t k) { return std::tuple(held >= 0 && problem_.type[k] != held, left(k), problem_.gpus[k], k); };
    if (here >= 0 && (best < 0 || rank(here) < rank(best))) best = here;
  }
  // A job whose rate is not known where it runs stays there rather than wait.
  if (best < 0 && current >= 0 && problem_.gpus[current] <= free_[to_index(problem_.type[current])]) return current;
  return best;
}

bool ShapeSteps::follows(std::int32_t job, std::int32_t k) const {
  const std::int32_t has = row(job);
  const std::int32_t more = problem_.gpus[k] - problem_.gpus[has];
  return problem_.type[k] == problem_.type[has] && speed(k) > 0 && more > 0 && more <= free_[to_index(problem_.type[k])];
}

void ShapeSteps::give(std::int32_t job, std::int32_t k) {
  const std::int32_t has = row(job);
  free_[to_index(problem_.type[k])] -= problem_.gpus[k] - (has < 0 ? 0 : problem_.gpus[has]);
  chosen_[to_index(job)] = k - first(job);
}

}  // namespace berth::policy
