#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/random.hpp"
#include "tests/support/random_ones.hpp"

/// Properties of every result of docs/ones.md, on random problems.
namespace berth::test::ones_random_test {
namespace {

template <class Check>
void for_random_ones(std::int32_t jobs, std::uint64_t seeds, Check check) {
  for (const OnesOptions options : kOnesOptions) {
    for (const std::int32_t n_gpus : {1, 2, 7, 16, 40}) {
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        Random random(seed * 64 + static_cast<std::uint64_t>(n_gpus));
        RandomOnesSpec spec;
        spec.n_gpus = n_gpus;
        spec.jobs = jobs;
        spec.population = random.of<std::int32_t>({1, 2, 3, 16});
        spec.theta_ppm = random.of<std::int32_t>({0, 300'000, 1'000'000});
        spec.waiting = random.of<std::int32_t>({0, 0, 1, 1024});
        spec.options = options;
        spec.fresh_percent = random.of<std::int32_t>({0, 20, 100});
        spec.deployed_percent = random.of<std::int32_t>({0, 70, 100});
        spec.gap_percent = random.of<std::int32_t>({0, 20, 60});
        SCOPED_TRACE(std::string(to_string(options)) + ", jobs " + std::to_string(jobs) + ", GPUs " + std::to_string(n_gpus) + ", seed " +
                     std::to_string(seed));
        check(random_ones(seed, spec), seed);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

}  // namespace

TEST(OnesRandom, AnswersKeepTheirPromises) {
  for (const std::int32_t jobs : {0, 1, 2, 5, 12, 33}) {
    for_random_ones(jobs, 8, [](const OnesProblem& problem, std::uint64_t seed) {
      for (const std::int32_t generations : {0, 1, 4}) {
        EXPECT_EQ(objection(problem, evolve_by_oracle(problem, {.generations = generations})), "");
        const TestOnesPopulation population = random_population(seed, problem);
        EXPECT_EQ(objection(problem, evolve_by_oracle(problem, {.generations = generations, .population = population})), "");
      }
    });
  }
}

TEST(OnesRandom, FirstPopulationIsWithinLimits) {
  for_random_ones(12, 8, [](const OnesProblem& problem, std::uint64_t) {
    const OnesBuffers result = evolve_by_oracle(problem, {.generations = 0});
    for (std::size_t row = 0; row < result.count.size(); ++row) {
      const std::size_t j = row % static_cast<std::size_t>(problem.n_jobs());
      if (result.count[row] == 0) continue;
      if (problem.fresh[j] != 0) {
        EXPECT_EQ(result.count[row], problem.start[j]);
      } else {
        EXPECT_LE(result.count[row], problem.limit[j]);
      }
    }
  });
}

TEST(OnesRandom, GoingOnIsLikeNotStopping) {
  for_random_ones(12, 2, [](const OnesProblem& problem, std::uint64_t seed) {
    for (const std::int32_t first : {0, INT_MAX - 1}) {  // numbers wrap around
      const OnesEvolving begin{.first_generation = first, .generations = 2, .population = random_population(seed, problem)};
      OnesEvolving whole = begin;
      whole.generations = 5;
      const OnesBuffers earlier = evolve_by_oracle(problem, begin);
      const std::int32_t next = first == 0 ? 2 : 0;
      OnesBuffers later = evolve_by_oracle(problem, {.first_generation = next, .generations = 3, .population = earlier.population()});

      later.least.insert(later.least.begin(), earlier.least.begin(), earlier.least.end());
      later.generations += earlier.generations;
      EXPECT_EQ(later, evolve_by_oracle(problem, whole));
    }
  });
}

TEST(OnesRandom, GenerationNumbersAndSeedsChangeWhatIsDrawn) {
  RandomOnesSpec spec;
  spec.n_gpus = 40;
  spec.fresh_percent = spec.extreme_percent = 0;
  std::int32_t differ_by_number = 0, differ_by_seed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    OnesProblem problem = random_ones(seed, spec);
    const OnesBuffers zero = evolve_by_oracle(problem), one = evolve_by_oracle(problem, {.first_generation = 1});
    EXPECT_EQ(zero, evolve_by_oracle(problem));
    differ_by_number += zero.least == one.least ? 0 : 1;
    problem.seed ^= std::uint64_t{1} << 32;  // the high word counts, too
    differ_by_seed += zero.least == evolve_by_oracle(problem).least ? 0 : 1;
  }
  EXPECT_GE(differ_by_number, 18);
  EXPECT_GE(differ_by_seed, 18);
}

// No progress is drawn again, and no job arrives, leaves or grows: the best previous individual is among the
// candidates.
TEST(OnesRandom, NeverGetsWorseWhileNothingChanges) {
  for_random_ones(8, 4, [](OnesProblem problem, std::uint64_t) {
    for (std::size_t j = 0; j < problem.fresh.size(); ++j) {
      std::fill_n(problem.progress.begin() + static_cast<std::ptrdiff_t>(j * kernel::kOnesQuantiles), kernel::kOnesQuantiles,
                  kernel::kOnesUnit / 3);
      problem.most[j] = problem.limit[j];
    }
    const OnesBuffers result = evolve_by_oracle(problem, {.generations = 8});
    EXPECT_TRUE(std::is_sorted(result.least.rbegin(), result.least.rend())) << testing::PrintToString(result.least);
  });
}

TEST(OnesRandom, GenerationsThatWereMadeRepeatWhatWasStopped) {
  for_random_ones(12, 2, [](const OnesProblem& problem, std::uint64_t) {
    for (const std::int32_t k : {1, 2, 5}) {
      std::int32_t asked = 0;
      const OnesBuffers stopped = evolve_by_oracle(problem, {.generations = 6, .stop = [&] { return ++asked == k; }});
      EXPECT_EQ(stopped.generations, k);
      EXPECT_EQ(asked, k);
      EXPECT_EQ(stopped, evolve_by_oracle(problem, {.generations = k}));
    }
  });
}

// Also after the last generation: a requested stop is reported.
TEST(OnesRandom, StopIsAskedAfterEachGeneration) {
  std::int32_t asked = 0;
  const auto stop = [&] {
    ++asked;
    return false;
  };
  const OnesProblem problem = random_ones(1);
  EXPECT_EQ(evolve_by_oracle(problem, {.generations = 4, .stop = stop}), evolve_by_oracle(problem, {.generations = 4}));
  EXPECT_EQ(asked, 4);
}

}  // namespace berth::test::ones_random_test
