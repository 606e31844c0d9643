#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/random.hpp"
#include "tests/support/random_choice.hpp"

/// Properties of every result of docs/prices.md, on random problems.
namespace berth::test::price_random_test {
namespace {

// Problems of every kind with this many jobs, with room for almost none or almost all of them.
template <class Check>
void for_random_choices(std::int32_t jobs, std::uint64_t seeds, Check check) {
  for (const ChoiceKind kind : kChoiceKinds) {
    for (std::int32_t types = 1; types <= 6; ++types) {
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        Random random(seed);
        RandomChoiceSpec spec;
        spec.jobs = jobs;
        spec.types = types;
        spec.kind = kind;
        if (jobs <= 4) spec.max_gpus = 8;  // few options, to try all
        spec.load_percent = random.of<std::int32_t>({80, 150, 300, 1000});
        spec.max_value = random.of<std::int64_t>({4, 1000, 1'000'000, kernel::kMaxPriceValue});
        spec.identical_percent = random.of<std::int32_t>({0, 10, 80});
        SCOPED_TRACE(std::string(to_string(kind)) + ", jobs " + std::to_string(jobs) + ", types " + std::to_string(types) + ", seed " +
                     std::to_string(seed));
        check(random_choice(seed, spec));
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

}  // namespace

TEST(PriceRandom, AnswersAreWithinTheCapacitiesAndBelowTheirBound) {
  for (const std::int32_t jobs : {0, 1, 2, 7, 33, 150}) {
    for_random_choices(jobs, jobs > 100 ? 2 : 10, [](const ChoiceProblem& problem) {
      EXPECT_EQ(objection(problem, choose_by_oracle(problem, {.most_evaluations = 60})), "");
    });
  }
}

TEST(PriceRandom, OptimumIsBetweenValueAndBound) {
  for (const std::int32_t jobs : {1, 2, 3, 4}) {
    for_random_choices(jobs, 25, [](const ChoiceProblem& problem) {
      const ChoiceBuffers result = choose_by_oracle(problem, {.most_evaluations = 60});
      const std::int64_t optimum = best_by_enumeration(problem);
      EXPECT_LE(result.value, optimum);
      EXPECT_LE(optimum, result.bound);
    });
  }
}

TEST(PriceRandom, WorkLimitRepeatsWhatWasStopped) {
  for_random_choices(20, 2, [](const ChoiceProblem& problem) {
    const ChoiceBuffers whole = choose_by_oracle(problem, {.most_evaluations = 100});
    for (std::int32_t k = 1; k <= whole.evaluations; ++k) {
      std::int32_t asked = 0;
      const ChoiceBuffers limited = choose_by_oracle(problem, {.most_evaluations = k});
      EXPECT_EQ(limited.evaluations, k);
      EXPECT_EQ(limited, choose_by_oracle(problem, {.stop = [&] { return ++asked == k; }}));
      EXPECT_EQ(objection(problem, limited), "");
    }
    EXPECT_EQ(whole, choose_by_oracle(problem, {.most_evaluations = whole.evaluations}));
  });
}

TEST(PriceRandom, MoreWorkNeverLoosensTheBound) {
  for_random_choices(20, 3, [](const ChoiceProblem& problem) {
    std::int64_t bound = choose_by_oracle(problem, {.most_evaluations = 1}).bound;
    for (std::int32_t k = 2; k <= 40; ++k) {
      const std::int64_t next = choose_by_oracle(problem, {.most_evaluations = k}).bound;
      EXPECT_LE(next, bound);
      bound = next;
    }
  });
}

TEST(PriceRandom, EarlierPricesAreNotForgotten) {
  for_random_choices(20, 5, [](const ChoiceProblem& problem) {
    const ChoiceBuffers cold = choose_by_oracle(problem, {.most_evaluations = 60});
    const ChoiceBuffers warm = choose_by_oracle(problem, {.most_evaluations = 60, .prices = cold.price});
    EXPECT_LE(warm.bound, cold.bound);
    EXPECT_EQ(objection(problem, warm), "");
  });
}

// A job without options, or without an option above 0, has no effect.
TEST(PriceRandom, JobsWithoutValueChangeNothing) {
  for_random_choices(15, 5, [](const ChoiceProblem& problem) {
    std::vector<std::vector<TestOption>> jobs{{}, {{0, 1, 0}, {0, 1, -5}}};
    for (std::size_t j = 0; j + 1 < problem.option_begin.size(); ++j) {
      jobs.emplace_back();
      for (auto row = static_cast<std::size_t>(problem.option_begin[j]); row < static_cast<std::size_t>(problem.option_begin[j + 1]); ++row)
        jobs.back().push_back({problem.type[row], problem.gpus[row], problem.value[row]});
    }
    ChoiceBuffers want = choose_by_oracle(problem, {.most_evaluations = 60});
    want.option.insert(want.option.begin(), {-1, -1});
    EXPECT_EQ(choose_by_oracle({problem.capacity, jobs}, {.most_evaluations = 60}), want);
  });
}

}  // namespace berth::test::price_random_test
