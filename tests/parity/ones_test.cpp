#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "berth/kernel/ones/candidate.hpp"
#include "berth/kernel/ones/first.hpp"
#include "berth/kernel/ones/ones.hpp"
#include "tests/support/parity/backends.hpp"
#include "tests/support/random_ones.hpp"
#include "tests/support/thread_group.hpp"

namespace berth::test::ones_test {
namespace {

/// By seed: none, a few, hundreds of jobs; one GPU to more than a block of random bits.
RandomOnesSpec spec_of(std::uint64_t seed) {
  constexpr std::int32_t kJobs[] = {12, 0, 1, 31, 7, 33, 257, 64};
  constexpr std::int32_t kGpuCounts[] = {24, 1, 130, 16, 17, 64, 2, 300, 1025};
  constexpr std::int32_t kPopulations[] = {3, 1, 2, 16, 5};
  constexpr std::int32_t kThetas[] = {300'000, 0, 1'000'000, 300'000};
  RandomOnesSpec spec;
  spec.jobs = kJobs[seed % 8];
  spec.n_gpus = kGpuCounts[seed / 3 % 9];
  spec.population = kPopulations[seed / 5 % 5];
  spec.theta_ppm = kThetas[seed / 7 % 4];
  spec.waiting = std::int64_t{1} << seed / 2 % 12;
  if (seed % 2 == 0) spec.waiting = 0;
  spec.options = kOnesOptions[seed % kOnesOptions.size()];
  return spec;
}

OnesEvolving evolving_of(std::uint64_t seed, const OnesProblem& problem) {
  OnesEvolving how;
  how.generations = static_cast<std::int32_t>(seed % 5);
  if (seed % 11 == 0) how.first_generation = INT32_MAX;
  if (seed % 3 == 0) how.population = random_population(seed, problem);
  return how;
}

OnesBuffers evolve(core::PlacementBackend& backend, const OnesProblem& problem, const OnesEvolving& how) {
  OnesBuffers got(problem, how.generations);
  backend.ones({problem.view(), how.request(), nullptr}, got.view());
  return got;
}

class OnesOnBackend : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Built, OnesOnBackend, testing::ValuesIn(built_backends()), [](const auto& one) { return one.param; });

TEST_P(OnesOnBackend, EqualsReference) {
  for (std::uint64_t seed = 0; seed < 48; seed += parity_stride()) {
    const OnesProblem problem = random_ones(seed, spec_of(seed));
    const OnesEvolving how = evolving_of(seed, problem);
    ASSERT_EQ(evolve(backend(), problem, how), evolve_by_oracle(problem, how)) << "seed " << seed;
  }
}

TEST_P(OnesOnBackend, HasTheSamePopulationAfterEachOfFiftyGenerations) {
  RandomOnesSpec spec;
  spec.n_gpus = 64;
  spec.jobs = 50;
  spec.population = 16;
  spec.options = OnesOptions::kEvery;
  const OnesProblem problem = random_ones(7, spec);
  OnesEvolving how;
  for (std::int32_t generation = 0; generation < 50; ++generation) {
    how.first_generation = generation;
    const OnesBuffers expected = evolve_by_oracle(problem, how);
    ASSERT_EQ(evolve(backend(), problem, how), expected) << "generation " << generation;
    how.population = expected.population();
  }
  how = {};
  how.generations = 50;
  EXPECT_EQ(evolve(backend(), problem, how), evolve_by_oracle(problem, how));
}

/// One generation by a block of threads, as on a GPU: everything that a group does.
OnesBuffers evolve_in_group(std::int32_t threads, const OnesProblem& problem, const OnesEvolving& how) {
  const kernel::OnesView v = problem.view();
  const std::int64_t all = std::int64_t{v.population} * v.n_jobs;
  OnesBuffers got(problem, 0);
  kernel::OnesWorkspace ws{};
  std::vector<std::max_align_t> memory(kernel::carve_ones_workspace(nullptr, v.n_jobs, ws) / sizeof(std::max_align_t) + 1);
  kernel::carve_ones_workspace(memory.data(), v.n_jobs, ws);
  std::vector<std::int32_t> taken(static_cast<std::size_t>(v.n_gpus) + 1), by_home(static_cast<std::size_t>(v.n_jobs));
  const kernel::OnesDeployed deployed = kernel::ones_deployed(v, taken.data(), by_home.data());
  const kernel::OnesResult result = got.view();
  run_with_threads(threads, [&](auto& group) {
    for (std::int32_t i = 0; i < v.population; ++i) {
      std::int32_t* const count = result.count + std::int64_t{i} * v.n_jobs;
      kernel::ones_first(group, v, i, how.first_generation, ws.keys, count);
      kernel::ones_reorder(group, v, deployed, count, ws, result.first + std::int64_t{i} * v.n_jobs);
    }
  });
  // Candidates of the next generation, unsorted: what a backend sorts is compared above.
  std::vector<std::int32_t> refreshed(static_cast<std::size_t>(all)), fill_order, fresh;
  for (std::int64_t i = 0; i < all; ++i) {
    refreshed[static_cast<std::size_t>(i)] = kernel::ones_refreshed(v, static_cast<std::int32_t>(i % v.n_jobs), result.count[i]);
  }
  std::vector<std::int64_t> left(static_cast<std::size_t>(v.n_jobs));
  for (std::int32_t j = 0; j < v.n_jobs; ++j) {
    (v.fresh[j] != 0 ? fresh : fill_order).push_back(j);
    if (v.fresh[j] == 0) left[static_cast<std::size_t>(j)] = kernel::ones_left(v, j, how.first_generation);
  }
  const kernel::OnesGeneration of{how.first_generation,
                                  result.first,
                                  refreshed.data(),
                                  left.data(),
                                  fill_order.data(),
                                  fresh.data(),
                                  static_cast<std::int32_t>(fill_order.size()),
                                  static_cast<std::int32_t>(fresh.size())};
  std::vector<std::uint32_t> bits(static_cast<std::size_t>(kernel::ones_bit_words(v.n_gpus)));
  const std::int32_t candidates = kernel::ones_candidates(v.population);
  got.count.resize(static_cast<std::size_t>(all) + static_cast<std::size_t>(candidates) * static_cast<std::size_t>(v.n_jobs));
  got.score.resize(static_cast<std::size_t>(candidates));
  std::int32_t* const counts = got.count.data() + all;
  run_with_threads(threads, [&](auto& group) {
    for (std::int32_t i = 0; i < candidates; ++i) {
      const std::int64_t score = kernel::ones_candidate(group, v, of, i, bits.data(), counts + std::int64_t{i} * v.n_jobs);
      if (group.rank() == 0) got.score[static_cast<std::size_t>(i)] = score;
      group.sync();
    }
  });
  return got;
}

TEST(OnesOnBlock, MakesTheSameCandidatesWithAnyNumberOfThreads) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const OnesProblem problem = random_ones(seed, spec_of(seed));
    OnesEvolving how;
    how.first_generation = static_cast<std::int32_t>(seed);
    const OnesBuffers expected = evolve_in_group(1, problem, how);
    OnesEvolving none = how;
    none.generations = 0;
    const OnesBuffers first = evolve_by_oracle(problem, none);
    ASSERT_EQ(first.first, expected.first) << "seed " << seed;
    ASSERT_TRUE(std::equal(first.count.begin(), first.count.end(), expected.count.begin())) << "seed " << seed;
    for (const std::int32_t threads : {2, 7, 32}) {
      if (threads == 32 && seed % 4 != 0) continue;
      ASSERT_EQ(evolve_in_group(threads, problem, how), expected) << "seed " << seed << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace berth::test::ones_test
