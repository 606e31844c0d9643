// Sia's integer program in the form of the paper's artifact, compared with the values that the objective `sia` gives to
// prices.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "berth/kernel/price/objective.hpp"
#include "tests/solver/solved_choice.hpp"
#include "tests/support/random.hpp"

namespace berth::test::sia_program_test {
namespace {

struct SiaProblem {
  ChoiceProblem values;  // hundredths: lambda - A
  ChoiceProblem saved;   // the same by Sia's own formula, in floating point
};

/// Jobs on 1, 2, 4, ... GPUs of a node and on whole nodes, with Amdahl's speed-up; a few of them run in one of these
/// and were restarted.
SiaProblem random_program(std::uint64_t seed, std::int32_t n_jobs) {
  Random random(seed);
  const std::int32_t types = random.within(1, 3), node = random.of<std::int32_t>({4, 8});
  std::vector<std::int64_t> capacity;
  for (std::int32_t t = 0; t < types; ++t) capacity.push_back(std::int64_t{node} * random.within(1, 3));
  std::vector<std::vector<TestOption>> values, saved;
  for (std::int32_t j = 0; j < n_jobs; ++j) {
    const double loss = 0.02 * random.within(0, 20);
    const TimeUs age = random.within(10, 5000) * kSecond, cost = random.of<std::int32_t>({25, 30, 250}) * kSecond;
    const std::int32_t restarts = random.below(8);
    std::vector<std::pair<std::int32_t, kernel::ShapeTerms>> shapes;  // type
    for (std::int32_t t = 0; t < types; ++t) {
      const double fast = 0.25 * random.within(2, 8);
      for (std::int32_t g = 1; g <= capacity[static_cast<std::size_t>(t)]; g += g < node ? g : node) {
        const double speed = fast * g / (1 + loss * (g - 1));
        shapes.push_back({t, {g, static_cast<std::int64_t>(1e6 * speed), 1, cost, 1}});
      }
    }
    if (random.percent(50)) shapes[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(shapes.size())))].second.cost = 0;
    kernel::JobTerms job{1'000'000, 1, 1};
    job.least_speed = INT64_MAX;
    for (const auto& shape : shapes) job.least_speed = std::min(job.least_speed, shape.second.speed);
    job.age = age;
    job.restarts = restarts;
    auto& of_job = values.emplace_back();
    auto& by_formula = saved.emplace_back();
    for (const auto& [type, shape] : shapes) {
      const std::int64_t value = kernel::shape_value({kernel::Objective::kSia, {}, 1, 1, 0, 0}, job, shape);
      EXPECT_EQ(value % 10'000, 0);
      of_job.push_back({type, shape.gpus, value / 10'000});
      const double s = static_cast<double>(shape.cost), now = static_cast<double>(age);
      const double factor = shape.cost == 0 || now < s ? 1 : std::max(now - restarts * s, 0.) / (now + s);
      const double gain = factor * static_cast<double>(shape.speed) / static_cast<double>(job.least_speed);
      const double a = gain == 0 ? 3000 : std::min(std::nearbyint(100 / std::sqrt(gain)) / 100, 3000.);
      by_formula.push_back({type, shape.gpus, std::lround(110 - 100 * a)});
    }
  }
  return {{capacity, values}, {capacity, saved}};
}

}  // namespace

TEST(SiaProgram, HasTheValuesOfSiasOwnFormula) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const SiaProblem problem = random_program(seed, 8);
    EXPECT_EQ(problem.values.value, problem.saved.value) << "seed " << seed;
  }
}

// Two choices differ by at least a hundredth, and on clusters of a few nodes one job is much. The tolerance is about
// twice what was measured over these 900: the values add up to 0.21 % less than the optima, once it was 11 %.
TEST(SiaProgram, IsNearlySolvedByPrices) {
  std::int64_t solved = 0, lost = 0;
  double worst = 0;
  for (const std::int32_t jobs : {3, 6, 10}) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      const ChoiceProblem problem = random_program(seed, jobs).values;
      const ChoiceBuffers result = choose_by_oracle(problem, {.most_evaluations = 200});
      const std::int64_t optimum = best_choice(problem);
      ASSERT_LE(result.value, optimum) << "seed " << seed;
      ASSERT_LE(optimum, result.bound) << "seed " << seed;
      solved += optimum;
      lost += optimum - result.value;
      worst = std::max(worst, static_cast<double>(optimum - result.value) / static_cast<double>(optimum));
    }
  }
  EXPECT_LE(static_cast<double>(lost), 0.0045 * static_cast<double>(solved));
  EXPECT_LE(worst, 0.22);
}

}  // namespace berth::test::sia_program_test
