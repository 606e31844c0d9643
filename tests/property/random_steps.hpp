#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "host/core/policy_api/objective.hpp"
#include "tests/support/random.hpp"
#include "tests/support/random_choice.hpp"

/// Questions for policies that give GPUs step by step.
namespace berth::test {

struct StepJobs {
  ChoiceProblem problem;
  std::vector<core::ChoiceOption> options;
  std::vector<kernel::ShapeTerms> shapes;
};

/// What became illegal after the fact: jobs run, and types have fewer GPUs than that, as after failures.
inline void lose_gpus(std::uint64_t seed, StepJobs& jobs) {
  Random random(seed * 0x9e3779b97f4a7c15ull + 23);
  for (std::size_t j = 0; j + 1 < jobs.problem.option_begin.size(); ++j) {
    const std::int32_t first = jobs.problem.option_begin[j], options = jobs.problem.option_begin[j + 1] - first;
    if (options > 0 && random.percent(70)) jobs.options[static_cast<std::size_t>(first + random.below(options))].current = true;
  }
  for (std::int64_t& gpus : jobs.problem.capacity) {
    if (random.percent(50)) gpus = random.below(static_cast<std::int32_t>(gpus) + 1);
  }
}

/// On which type a job runs; -1: it waits.
inline std::int32_t held_type(const StepJobs& jobs, std::int32_t job) {
  std::int32_t held = -1;
  for (auto k = static_cast<std::size_t>(jobs.problem.option_begin[static_cast<std::size_t>(job)]);
       k < static_cast<std::size_t>(jobs.problem.option_begin[static_cast<std::size_t>(job) + 1]); ++k) {
    if (jobs.options[k].current) held = jobs.problem.type[k];
  }
  return held;
}

/// Options of random_choice, with run times and speeds of few values, so that there are ties. Of two seeds in three jobs run, and
/// GPUs are lost.
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
  if (seed % 3 != 1) lose_gpus(seed, jobs);
  return jobs;
}

}  // namespace berth::test
