#include "berth/kernel/price/price.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/parity/backends.hpp"
#include "tests/support/random_choice.hpp"
#include "tests/support/thread_group.hpp"

namespace berth::test::price_test {
namespace {

/// By seed: none, a few, hundreds of jobs; one type to more than fit one cut of prices.
RandomChoiceSpec spec_of(std::uint64_t seed) {
  constexpr std::int32_t kJobs[] = {0, 1, 2, 7, 31, 33, 64, 150};
  constexpr std::int32_t kTypes[] = {1, 2, 3, 6};
  RandomChoiceSpec spec;
  spec.jobs = kJobs[seed % 8];
  spec.types = kTypes[seed / 8 % 4];
  spec.kind = kChoiceKinds[seed % kChoiceKinds.size()];
  spec.load_percent = seed % 3 == 0 ? 80 : 300;
  if (seed % 4 == 0) spec.identical_percent = 70;
  return spec;
}

/// A search cut short, one from earlier prices, one with a wide gap.
Choosing choosing_of(std::uint64_t seed, const ChoiceProblem& problem) {
  Choosing how;
  how.gap_ppm = seed % 5 == 0 ? 10'000 : seed % 5 == 1 ? 100 : 0;
  how.bound_only = seed % 13 == 0;
  if (seed % 7 == 0) how.most_evaluations = static_cast<std::int32_t>(seed % 11) + 1;
  if (seed % 6 == 0) {
    for (std::int32_t t = 0; t < problem.n_types(); ++t)
      how.prices.push_back(static_cast<std::int64_t>((seed * 7919 + 13) % 50'000) * (t % 2));
  }
  return how;
}

kernel::PriceRequest request_of(const Choosing& how) {
  return {how.gap_ppm, how.most_evaluations, how.bound_only, how.prices.empty() ? nullptr : how.prices.data()};
}

class PriceOnBackend : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Built, PriceOnBackend, testing::ValuesIn(built_backends()), [](const auto& one) { return one.param; });

TEST_P(PriceOnBackend, EqualsReference) {
  for (std::uint64_t seed = 0; seed < 400; seed += parity_stride()) {
    const ChoiceProblem problem = random_choice(seed, spec_of(seed));
    const Choosing how = choosing_of(seed, problem);
    const core::PriceTask task{problem.view(), request_of(how), nullptr};
    ChoiceBuffers got(problem);
    const kernel::PriceResult result = got.view();
    backend().price({&task, 1}, {&result, 1});
    ASSERT_EQ(got, choose_by_oracle(problem, how)) << "seed " << seed;
  }
}

// Earlier prices at which the bound has more than 64 bits with this many GPUs, until the price 0 is found to suffice.
TEST_P(PriceOnBackend, EqualsReferenceWithTheGreatestNumbers) {
  const std::int64_t most = kernel::kMaxPriceValue;
  const ChoiceProblem problem({kernel::kMaxPriceCapacity, 0, kernel::kMaxPriceCapacity},
                              {{{0, kernel::kMaxPriceGpus, most}, {1, 1, most}}, {{1, 1, most}}, {{2, 1, -most}}});
  for (const std::int32_t evaluations : {1, 2, 100}) {
    const Choosing how{.most_evaluations = evaluations, .prices = {INT64_MAX, INT64_MAX, INT64_MIN}};
    const core::PriceTask task{problem.view(), request_of(how), nullptr};
    ChoiceBuffers got(problem);
    const kernel::PriceResult result = got.view();
    backend().price({&task, 1}, {&result, 1});

    EXPECT_EQ(got, choose_by_oracle(problem, how));
    EXPECT_GE(got.bound, got.value);
  }
}

TEST_P(PriceOnBackend, ManyProblemsAtOnceEqualReference) {
  std::vector<ChoiceProblem> problems;
  for (std::uint64_t seed = 0; seed < 60; ++seed) problems.push_back(random_choice(seed, spec_of(seed + 3)));
  std::vector<ChoiceBuffers> got;
  for (const ChoiceProblem& problem : problems) got.emplace_back(problem);
  std::vector<core::PriceTask> tasks;
  std::vector<kernel::PriceResult> results;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    tasks.push_back({problems[i].view(), request_of({}), nullptr});
    results.push_back(got[i].view());
  }

  backend().price(tasks, results);

  for (std::size_t i = 0; i < problems.size(); ++i) ASSERT_EQ(got[i], choose_by_oracle(problems[i])) << "problem " << i;
}

/// A block of threads, as on a GPU.
TEST(PriceOnBlock, EqualsReference) {
  for (const std::int32_t threads : {2, 7, 32}) {
    const std::uint64_t last = threads == 32 ? 16 : 48;
    for (std::uint64_t seed = 0; seed < last; ++seed) {
      const ChoiceProblem problem = random_choice(seed, spec_of(seed));
      const Choosing how = choosing_of(seed, problem);
      const kernel::PriceRequest request = request_of(how);
      kernel::PriceWorkspace ws{};
      std::vector<std::max_align_t> memory(
          kernel::carve_price_workspace(nullptr, problem.n_jobs(), problem.n_types(), ws) / sizeof(std::max_align_t) + 1);
      kernel::carve_price_workspace(memory.data(), problem.n_jobs(), problem.n_types(), ws);
      ChoiceBuffers got(problem);
      const kernel::PriceResult result = got.view();
      run_with_threads(threads, [&](auto& group) { kernel::price(group, problem.view(), request, ws, result); });
      ASSERT_EQ(got, choose_by_oracle(problem, how)) << "seed " << seed << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace berth::test::price_test
