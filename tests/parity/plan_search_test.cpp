#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "berth/kernel/plan_search/plan_search.hpp"
#include "tests/support/parity/backends.hpp"
#include "tests/support/random_plan_search.hpp"
#include "tests/support/thread_group.hpp"

namespace berth::test::plan_search_test {
namespace {

/// By seed: from no job on one node to dozens of jobs on a few dozen nodes.
RandomPlanSearchSpec plan_search_spec(std::uint64_t seed) {
  constexpr std::int32_t kJobs[] = {24, 0, 1, 48, 12, 80};
  constexpr std::int32_t kNodes[] = {12, 1, 30, 6, 70};
  constexpr std::int32_t kRunning[] = {40, 0, 90, 60};
  RandomPlanSearchSpec spec;
  spec.problem.jobs = kJobs[seed % 6];
  spec.problem.nodes = kNodes[seed / 2 % 5];
  spec.problem.running_percent = kRunning[seed / 3 % 4];
  spec.problem.types = 1 + static_cast<std::int32_t>(seed % 2);
  spec.problem.constraints = seed % 5 != 0;
  spec.problem.until = seed % 4 == 0;
  spec.classes = seed % 3 == 0;
  spec.fragments = seed % 4 == 1;
  return spec;
}

PlanSearchBuffers search(core::PlacementBackend& backend, const PlanSearchProblem& problem, const PlanSearching& how) {
  PlanSearchBuffers got(problem, how);
  backend.plan_search({problem.view(), how.request(), nullptr}, got.view());
  return got;
}

PlanSearchBuffers search_by_oracle(const PlanSearchProblem& problem, const PlanSearching& how) {
  const std::unique_ptr<core::PlacementBackend> oracle = core::make_reference_backend();
  return search(*oracle, problem, how);
}

class PlanSearchOnBackend : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Built, PlanSearchOnBackend, testing::ValuesIn(built_backends()), [](const auto& one) { return one.param; });

TEST_P(PlanSearchOnBackend, EqualsReference) {
  for (std::uint64_t seed = 0; seed < 240; seed += parity_stride()) {
    const PlanSearchProblem problem = random_plan_search(seed, plan_search_spec(seed));
    const PlanSearching how = random_searching(seed, problem);
    ASSERT_EQ(search(backend(), problem, how), search_by_oracle(problem, how)) << "seed " << seed;
  }
}

TEST_P(PlanSearchOnBackend, HasTheSamePlanAfterEachOfFiftyGenerations) {
  RandomPlanSearchSpec spec = plan_search_spec(3);
  spec.problem.jobs = 40;
  const PlanSearchProblem problem = random_plan_search(5, spec);
  PlanSearching how = random_searching(5, problem);
  how.population = 4;
  how.islands = 2;
  how.n_starts = 0;
  how.operators = ~0U;
  for (std::int32_t generations = 0; generations <= 50; generations += 10) {
    how.generations = generations;
    ASSERT_EQ(search(backend(), problem, how), search_by_oracle(problem, how)) << generations << " generations";
  }
}

/// One individual, its second parent and its offspring by a block of threads, as on a GPU: everything that a group
/// does.
PlanSearchBuffers search_in_group(std::int32_t threads, const PlanSearchProblem& problem, const PlanSearching& how) {
  const kernel::PlanSearchView v = problem.view();
  const kernel::PlanSearchRequest request = how.request();
  const std::int32_t n = kernel::plan_search_individuals(request);
  const std::size_t each = kernel::plan_search_individual_bytes(v);
  std::vector<std::max_align_t> memory(
      (each * static_cast<std::size_t>(n) + kernel::plan_search_workspace_bytes(v)) / sizeof(std::max_align_t) + 1);
  auto* const first = reinterpret_cast<std::byte*>(memory.data());
  std::vector<kernel::PlanSearchIndividual> x;
  for (std::int32_t i = 0; i < n; ++i) x.push_back(kernel::carve_plan_search_individual(first + each * static_cast<std::size_t>(i), v));
  const kernel::PlanSearchWorkspace ws = kernel::carve_plan_search_workspace(first + each * static_cast<std::size_t>(n), v);
  PlanSearchBuffers got(problem, how);
  run_with_threads(threads, [&](auto& group) {
    kernel::plan_search_begin(group, v, request, x[0], ws);
    for (std::int32_t i = 1; i < n; ++i) kernel::plan_search_copy(group, v, x[0], x[static_cast<std::size_t>(i)]);
    for (std::int32_t g = 0; g < request.n_starts; ++g) {
      const std::int64_t start = std::int64_t{g} * v.n_jobs;
      kernel::plan_search_initialise(group, v, request.start_option + start, request.start_order + start,
                                     x[static_cast<std::size_t>(kernel::plan_search_start_at(request, g))], ws);
    }
    for (std::int32_t g = 0; g < request.generations; ++g) {
      for (std::int32_t i = 0; i < n; ++i) {
        const std::int32_t parent = kernel::plan_search_crossover(request, g, i);
        if (parent >= 0)
          kernel::plan_search_offspring(group, v, request, x[static_cast<std::size_t>(parent)], x[static_cast<std::size_t>(i)], ws);
      }
      for (std::int32_t i = 0; i < n; ++i) kernel::plan_search_improve(group, v, request, g, i, x[static_cast<std::size_t>(i)], ws);
    }
  });
  // The options of all, and their scores.
  got.island_option.clear();
  got.score.clear();
  got.generations = n - 1;
  for (const kernel::PlanSearchIndividual& one : x) {
    got.island_option.insert(got.island_option.end(), one.option, one.option + v.n_jobs);
    got.score.push_back(*one.score);
  }
  return got;
}

TEST(PlanSearchOnBlock, EvolvesTheSamePopulationWithAnyNumberOfThreads) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const PlanSearchProblem problem = random_plan_search(seed, plan_search_spec(seed));
    PlanSearching how = random_searching(seed, problem);
    how.steps = std::min(how.steps, 3);
    how.generations = std::min(how.generations, 2);
    const PlanSearchBuffers expected = search_in_group(1, problem, how);
    for (const std::int32_t threads : {2, 7, 32}) {
      if (threads == 32 && seed % 4 != 0) continue;
      const PlanSearchBuffers got = search_in_group(threads, problem, how);
      ASSERT_EQ(got.island_option, expected.island_option) << "seed " << seed << ", " << threads << " threads";
      ASSERT_EQ(got.score, expected.score) << "seed " << seed << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace berth::test::plan_search_test
