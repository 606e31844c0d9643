#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "host/core/objective.hpp"
#include "tests/support/random.hpp"
#include "tests/support/random_choice.hpp"

/// Questions for policies that give GPUs step by step.
namespace berth::test {

struct StepJobs {
  ChoiceProblem problem;
  std::vector<core::ChoiceOption> options;
  std::vector<kernel::ShapeTerms> shapes;
};

/// Options of random_choice, with run times and speeds of few values, so that there are ties.
inline StepJobs random_steps(std::uint64_t seed) {
  RandomChoiceSpec spec;
  spec.jobs = static_cast<std::int32_t>(seed % 13);
  spec.types = 1 + static_cast<std::int32_t>(seed % 3);
  StepJobs jobs{random_choice(seed, spec), {}, {}};
  Random random(seed);
  for (std::int32_t j = 0; j < jobs.problem.n_jobs(); ++j) {
    for (auto k = static_cast<std::size_t>(jobs.problem.option_begin[static_cast<std::size_t>(j)]);
         k < static_cast<std::size_t>(jobs.problem.option_begin[static_cast<std::size_t>(j) + 1]); ++k) {
      jobs.options.push_back({j, 0, jobs.problem.type[k], jobs.problem.gpus[k], false});
      const TimeUs run = random.percent(50) ? random.within(1, 20) : random.within(1, 1'000'000);
      jobs.shapes.push_back(
          {jobs.problem.gpus[k], random.percent(5) ? 0 : random.within(1, 5) * jobs.problem.gpus[k], run, random.percent(20) ? 5 : 0, 1});
    }
  }
  return jobs;
}

}  // namespace berth::test
