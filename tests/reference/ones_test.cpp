#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/support/ones.hpp"

/// docs/ones.md by hand.
namespace berth::test::ones_test {
namespace {

using kernel::kOnesUnit;
using kernel::OnesPurpose;
using Counts = std::vector<std::int32_t>;

constexpr std::int64_t kMillion = 1'000'000;

// For a job with certain progress.
std::vector<std::int32_t> certain(std::int32_t quantile) { return std::vector(kernel::kOnesQuantiles, quantile); }

// A job with any count up to `limit`, twice as fast on twice as many: `left_s` seconds of work are left on 1 GPU.
TestOnesJob linear(std::int64_t left_s, std::int32_t limit) {
  TestOnesJob job{.limit = limit, .most = limit, .work = left_s * kMillion, .progress = certain(kOnesUnit / 2)};
  for (std::int32_t gpus = 1; gpus <= std::max(limit, 1); ++gpus) job.options.push_back({gpus, gpus * kMillion});
  return job;
}

TestOnesJob fresh(std::vector<TestOnesOption> options, std::int32_t start) {
  return {.options = std::move(options), .fresh = true, .start = start};
}

TestOnesJob deployed(TestOnesJob job, std::int32_t first, std::int32_t count) {
  job.deployed_first = first;
  job.deployed_count = count;
  return job;
}

// Section 2, implemented again.
std::uint32_t number(const OnesProblem& p, std::uint32_t generation, OnesPurpose purpose, std::uint32_t individual, std::uint32_t n) {
  const r123::Philox4x32::key_type key{{static_cast<std::uint32_t>(p.seed & 0xffffffff), static_cast<std::uint32_t>(p.seed >> 32)}};
  return r123::Philox4x32()({{n / 4, static_cast<std::uint32_t>(purpose), individual, generation}}, key).v[n % 4];
}

// A: 80 000 units done are half, 80 000 left at 4000/s. B: 20 000 are a quarter, 60 000 left at 1000/s.
OnesProblem two_jobs() {
  const TestOnesJob a{.options = {{1, 1500 * kMillion}, {2, 2500 * kMillion}, {4, 4000 * kMillion}},
                      .limit = 4,
                      .most = 4,
                      .work = 80'000 * kMillion,
                      .progress = certain(kOnesUnit / 2)};
  const TestOnesJob b{.options = {{1, 600 * kMillion}, {2, 1000 * kMillion}},
                      .limit = 2,
                      .most = 2,
                      .work = 20'000 * kMillion,
                      .progress = certain(kOnesUnit / 4)};
  return {6, 1, {deployed(a, 0, 4), deployed(b, 4, 2)}};
}

}  // namespace

// 80 000 / 4000 s on 4 GPUs and 60 000 / 1000 s on 2.
TEST(Ones, ScoreIsTheGpuTimeThatIsLeft) {
  OnesProblem problem = two_jobs();
  problem.theta_ppm = 0;

  const OnesBuffers result = evolve_by_oracle(problem);

  EXPECT_EQ(result.least, std::vector<std::int64_t>{80'000 + 120'000});
  EXPECT_EQ(result.score, result.least);
  EXPECT_EQ(result.count, (Counts{4, 2}));
  EXPECT_EQ(result.first, (Counts{0, 4}));
}

// One GPU for two jobs; of A 800 units are left at 100/s, of B 900 at 300/s, in its smallest shape of one GPU.
TEST(Ones, WaitingWorkIsScoredOnManyTimesTheSmallestOption) {
  const auto job = [](std::int64_t left, std::int64_t rate) {
    return TestOnesJob{.options = {{1, rate * kMillion}, {2, 2 * rate * kMillion}},
                       .limit = 1,
                       .most = 1,
                       .work = left * kMillion,
                       .progress = certain(kOnesUnit / 2)};
  };
  OnesProblem problem(1, 16, {job(800, 100), job(900, 300)});
  EXPECT_EQ(evolve_by_oracle(problem, {.generations = 20}).least.back(), 3'000) << "A waits, and counts as nothing";
  problem.waiting = 1;
  EXPECT_EQ(evolve_by_oracle(problem, {.generations = 20}).least.back(), 8'000 + 3'000);

  problem.waiting = 3;
  const OnesBuffers result = evolve_by_oracle(problem, {.generations = 20});

  EXPECT_EQ(result.least.back(), 8'000 + 3 * 3'000);
  EXPECT_EQ(result.counts_of(0), (Counts{1, 0}));
}

TEST(Ones, NothingDoneIsTakenAsTheLeastPartThatThereIs) {
  OnesProblem problem(1, 1, {{.options = {{1, 1000}}, .limit = 1, .most = 1, .work = 1, .progress = certain(0)}});
  EXPECT_EQ(evolve_by_oracle(problem).least[0], kOnesUnit - 1);

  problem.work[0] = kernel::kMostOnesWork;  // limited to 2^62, in order and score, too
  EXPECT_EQ(evolve_by_oracle(problem).least[0], kernel::kMostOnesWork);

  problem.option_rate[0] = 4000;  // a quarter of the work, in milliseconds
  EXPECT_EQ(evolve_by_oracle(problem).least[0], kernel::kMostOnesWork / 4);

  problem.work[0] = 0;
  EXPECT_EQ(evolve_by_oracle(problem).least[0], 0);
}

TEST(Ones, JobsThatAreDoneHaveNothingLeftAndKeepTheirGpus) {
  const OnesProblem problem(2, 1,
                            {{.options = {{2, 1}}, .limit = 2, .most = 2, .work = kernel::kMostOnesWork, .progress = certain(kOnesUnit)}});

  const OnesBuffers result = evolve_by_oracle(problem);

  EXPECT_EQ(result.least[0], 0);
  EXPECT_EQ(result.count, Counts{2});
}

// 7 left, 2 GPUs: 7 * 2 * 1000 / 3 = 4666.6.
TEST(Ones, ScoreIsRoundedDown) {
  const OnesProblem problem(2, 1, {{.options = {{2, 3}}, .limit = 2, .most = 2, .work = 7, .progress = certain(kOnesUnit / 2)}});
  EXPECT_EQ(evolve_by_oracle(problem).least[0], 4666);
}

// Growing makes it worse, and it still grows: R requires it.
TEST(Ones, FallingRatesCountAsTheyAre) {
  const OnesProblem problem(2, 1,
                            {{.options = {{1, 1000}, {2, 500}}, .limit = 2, .most = 2, .work = 30, .progress = certain(kOnesUnit / 2)}});

  const OnesBuffers result = evolve_by_oracle(problem);

  EXPECT_EQ(result.least[0], 30 * 2 * 1000 / 500);
  EXPECT_EQ(result.count, Counts{2});
}

// Fresh jobs count among the m of the limit, though they have no score.
TEST(Ones, ScoreIsCutToItsShare) {
  const TestOnesJob endless{.options = {{1, 1}}, .limit = 1, .most = 1, .work = kernel::kMostOnesWork, .progress = certain(kOnesUnit / 2)};
  const OnesProblem problem(3, 1, {endless, fresh({{1, 1}}, 1), endless});
  EXPECT_EQ(evolve_by_oracle(problem).least[0], 2 * (kernel::kMostOnesWork / 3));
}

// Times beyond 64 bits are equal, and then the rank decides, though the second one is twice as fast.
TEST(Ones, TurnIsCutTo64Bits) {
  TestOnesJob endless{.options = {{1, 1}}, .limit = 1, .most = 1, .work = kernel::kMostOnesWork, .progress = certain(kOnesUnit / 2)};
  TestOnesJob twice = endless;
  twice.options = {{1, 2}};
  OnesProblem problem(1, 1, {endless, twice});
  const TestOnesPopulation nothing{{0, 0}, {0, 0}};

  EXPECT_EQ(evolve_by_oracle(problem, {.population = nothing}).count, (Counts{1, 0}));
  problem.work = {1000, 1000};
  EXPECT_EQ(evolve_by_oracle(problem, {.population = nothing}).count, (Counts{0, 1}));
}

// With entries of the table this far apart the progress is a quarter of the number. The first two numbers of seed 0 are
// those that the authors of Philox publish for a counter and key of zeros.
TEST(Ones, ProgressIsDrawnFromTheTable) {
  TestOnesJob job{.options = {{1, 1000}}, .limit = 1, .most = 1, .work = 1'000'000'000};
  for (std::int32_t i = 0; i < kernel::kOnesQuantiles; ++i) job.progress[static_cast<std::size_t>(i)] = i << 24;
  const auto left = [](std::uint32_t r) { return std::int64_t{1'000'000'000} * (kOnesUnit - (r >> 2)) / (r >> 2); };
  OnesProblem problem(6, 1, {job, job});
  problem.seed = 0;
  EXPECT_EQ(evolve_by_oracle(problem).least[0], left(0x6627e8d5) + left(0xe169c58d));

  problem = OnesProblem(6, 1, {job, job, job, job, job, job});  // the last two of another block
  problem.seed = 0x0123456789abcdef;
  std::int64_t sum = 0;
  for (std::uint32_t j = 0; j < 6; ++j) sum += left(number(problem, 5, OnesPurpose::kRemaining, 0, j));
  EXPECT_EQ(evolve_by_oracle(problem, {.first_generation = 5}).least[0], sum);
}

TEST(Ones, FreshJobsAreNeverResized) {
  const std::vector<TestOnesOption> options{{1, 10}, {2, 10}, {4, 10}};
  OnesProblem problem(8, 2, {deployed(fresh(options, 2), 1, 4), fresh(options, 2), deployed(fresh(options, 4), 6, 1)});
  problem.theta_ppm = 1'000'000;
  for (const std::int32_t generations : {0, 1, 5}) {
    const OnesBuffers result = evolve_by_oracle(problem, {.generations = generations});
    EXPECT_EQ(result.counts_of(0), (Counts{2, 2, 4}));
    EXPECT_EQ(objection(problem, result), "");
  }

  // A count that is no longer `start`, as after a changed request, is dropped first.
  const TestOnesPopulation other{{0, 4, 0, 0, 2, 0}, {4, 4, 0, 1, 1, 0}};
  EXPECT_EQ(evolve_by_oracle(problem, {.population = other}).counts_of(0), (Counts{2, 2, 4}));
}

// The only GPU is with the job that needs it longest. Where mutation removes it, the other one is first.
TEST(Ones, MutationRemovesWhereTheNumberIsBelowTheta) {
  OnesProblem problem(1, 1, {deployed(linear(100, 1), 0, 1), linear(10, 1)});
  const auto counts = [&](std::int32_t theta_ppm) {
    problem.theta_ppm = theta_ppm;
    return evolve_by_oracle(problem).count;
  };
  EXPECT_EQ(counts(0), (Counts{1, 0}));
  EXPECT_EQ(counts(1'000'000), (Counts{0, 1}));

  for (problem.seed = 1; problem.seed < 20; ++problem.seed) {
    const std::int64_t r = number(problem, 0, OnesPurpose::kMutation, 0, 0);
    const auto theta = static_cast<std::int32_t>(r * kMillion >> 32);  // the greatest theta with theta 2^32 / 10^6 <= r
    EXPECT_EQ(counts(theta), (Counts{1, 0}));
    EXPECT_EQ(counts(theta + 1), (Counts{0, 1}));
  }
}

// The share itself is rounded down and does not count: some numbers are below it only before rounding.
TEST(Ones, MutationRoundsItsShareDown) {
  OnesProblem problem(1, 1, {deployed(linear(100, 1), 0, 1), linear(10, 1)});
  for (problem.seed = 1;; ++problem.seed) {
    const std::int64_t r = number(problem, 0, OnesPurpose::kMutation, 0, 0);
    problem.theta_ppm = static_cast<std::int32_t>((r * kMillion >> 32) + 1);
    if ((std::int64_t{problem.theta_ppm} << 32) / kMillion == r) break;
  }
  EXPECT_EQ(evolve_by_oracle(problem).count, (Counts{1, 0}));
  ++problem.theta_ppm;
  EXPECT_EQ(evolve_by_oracle(problem).count, (Counts{0, 1}));
}

// Job 0 would start if job 1 left; only job 2 leaves, for the shorter one.
TEST(Ones, MutationLeavesFreshJobsAlone) {
  const TestOnesJob pair = fresh({{2, 1}}, 2);
  OnesProblem problem(3, 1, {pair, deployed(pair, 0, 2), deployed(linear(100, 1), 2, 1), linear(10, 1)});
  problem.theta_ppm = 1'000'000;
  EXPECT_EQ(evolve_by_oracle(problem, {.population = TestOnesPopulation{{0, 0, 2, 0}, {0, 2, 1, 0}}}).count, (Counts{0, 2, 0, 1}));
}

// 8 idle GPUs: 2 for the fresh job, 3 for the shorter one, then 2 for the longer one, and the last one for the shorter one beyond its
// limit.
TEST(Ones, FillGivesToFreshJobsThenWithinLimitsThenBeyond) {
  TestOnesJob longer = linear(20, 8), shorter = linear(10, 8);
  longer.limit = 2;
  shorter.limit = 3;
  OnesProblem problem(8, 1, {longer, shorter, fresh({{2, 1}}, 2)});
  const TestOnesPopulation nothing{{0, 0, 0}, {0, 0, 0}};
  EXPECT_EQ(evolve_by_oracle(problem, {.population = nothing}).count, (Counts{2, 4, 2}));

  problem.most = {8, 3, -7};  // the shorter one may have no more
  EXPECT_EQ(evolve_by_oracle(problem, {.population = nothing}).count, (Counts{3, 3, 2}));

  problem.limit = {0, 0, -7};  // a job without a limit gets only GPUs that would be idle
  problem.most = {8, 2, -7};
  EXPECT_EQ(evolve_by_oracle(problem, {.population = nothing}).count, (Counts{4, 2, 2}));
}

// 5 GPUs in options of 4 or 2: the 4 of the first leave one that no job can use, and a fresh job that needs 6 does not
// block others.
TEST(Ones, FillTakesSteps) {
  TestOnesJob job = linear(10, 5);
  job.options = {{2, kMillion}, {4, kMillion}};
  const OnesProblem problem(5, 1, {fresh({{5, 1}}, 5), fresh({{1, 1}, {3, 1}}, 3), job, job});
  EXPECT_EQ(evolve_by_oracle(problem, {.population = TestOnesPopulation{{0, 1, 0, 0}, {0, 3, 0, 0}}}).count, (Counts{0, 3, 2, 0}));
  EXPECT_EQ(evolve_by_oracle(problem, {.population = TestOnesPopulation{{0, 0, 0, 1}, {0, 0, 0, 4}}}).count, (Counts{0, 0, 0, 4}));
}

// A lower limit is enforced before anything else.
TEST(Ones, RefreshCutsToLimits) {
  OnesProblem problem(8, 1, {linear(10, 3), linear(20, 5)});
  const TestOnesPopulation before{{0, 6}, {3, 2}};
  EXPECT_EQ(evolve_by_oracle(problem, {.population = before}).count, (Counts{3, 5}));
  problem.limit = {1, 0};
  problem.most = {1, 2};
  EXPECT_EQ(evolve_by_oracle(problem, {.population = before}).count, (Counts{1, 2}));
}

// Each parent is a job that has all GPUs, and k GPUs are used k^2 times as long: the better individuals are those in
// which two jobs share them. Two numbers of 32 bits decide; the first parent has the GPUs with bit 0 in the first
// offspring.
TEST(Ones, OffspringHaveTheGpusThatTheirParentsGive) {
  constexpr std::int32_t kGpus = 40, kJobs = 3;
  TestOnesJob job{.limit = kGpus, .most = kGpus, .work = 1'000'000, .progress = certain(kOnesUnit / 2)};
  for (std::int32_t gpus = 1; gpus <= kGpus; ++gpus) job.options.push_back({gpus, 1'000'000'000 / gpus});
  OnesProblem problem(kGpus, kJobs, std::vector(kJobs, job));
  problem.theta_ppm = 0;
  TestOnesPopulation whole{Counts(kJobs * kJobs, 0), Counts(kJobs * kJobs, 0)};
  for (std::size_t j = 0; j < kJobs; ++j) whole.count[j * kJobs + j] = kGpus;

  for (problem.seed = 1; problem.seed < 20; ++problem.seed) {
    const OnesBuffers result = evolve_by_oracle(problem, {.first_generation = 3, .population = whole});

    const std::uint64_t a = std::uint64_t{number(problem, 3, OnesPurpose::kPairs, 0, 0)} * 3 >> 32;
    const std::uint64_t b = std::uint64_t{number(problem, 3, OnesPurpose::kPairs, 0, 1)} * 2 >> 32;
    std::int32_t ones = 0;
    for (std::uint32_t x = 0; x < kGpus; ++x) ones += number(problem, 3, OnesPurpose::kCrossover, 0, x / 32) >> (x % 32) & 1;
    Counts first(kJobs, 0), second(kJobs, 0), parent{kGpus, 0, 0};
    first[a] = second[b + (b >= a)] = kGpus - ones;
    first[b + (b >= a)] = second[a] = ones;
    EXPECT_EQ(result.counts_of(0), first);
    EXPECT_EQ(result.counts_of(1), second);
    EXPECT_EQ(result.counts_of(2), parent);  // equals, of which the first one is kept
  }
}

// Deployed: 3 of which an option of 2 is within the limit; 3, a limit of 0; fresh with more than `start`; fresh with less,
// which is dropped, and for whose 4 there is no room. Then waiting jobs, by rank: one that needs 2, one whose limit is
// below its first option, and another.
TEST(Ones, FirstPopulationBeginsWithWhatIsDeployed) {
  TestOnesJob pairs = linear(10, 9);
  pairs.options = {{2, kMillion}, {4, kMillion}};
  TestOnesJob none = pairs, low = pairs;
  none.limit = 0;
  low.limit = 1;
  const OnesProblem problem(9, 1,
                            {deployed(pairs, 0, 3), deployed(none, 3, 3), deployed(fresh({{1, 1}, {2, 1}}, 1), 6, 2),
                             deployed(fresh({{1, 1}, {7, 1}}, 7), 8, 1), pairs, low, fresh({{3, 1}}, 3), linear(10, 2)});

  const OnesBuffers result = evolve_by_oracle(problem, {.generations = 0});

  EXPECT_EQ(result.count, (Counts{2, 0, 1, 0, 2, 0, 3, 1}));
  EXPECT_EQ(result.score, std::vector<std::int64_t>{0});
  EXPECT_EQ(result.generations, 0);
}

TEST(Ones, FirstPopulationIsByRankAndElseByNumbers) {
  OnesProblem problem(3, 5, std::vector(6, linear(10, 3)));
  problem.seed = 77;

  const OnesBuffers result = evolve_by_oracle(problem, {.first_generation = 9, .generations = 0});

  EXPECT_EQ(result.counts_of(0), (Counts{1, 1, 1, 0, 0, 0}));
  for (std::int32_t i = 1; i < 5; ++i) {
    std::vector<std::uint32_t> fill_key(6);
    for (std::uint32_t j = 0; j < 6; ++j) fill_key[j] = number(problem, 9, OnesPurpose::kFirst, static_cast<std::uint32_t>(i), j);
    Counts want;
    for (const std::uint32_t t : fill_key) {
      want.push_back(std::count_if(fill_key.begin(), fill_key.end(), [&](std::uint32_t other) { return other < t; }) < 3 ? 1 : 0);
    }
    EXPECT_EQ(result.counts_of(i), want) << i;
  }
}

TEST(Ones, PopulationIsReturnedAsItIsWithoutAGeneration) {
  const OnesProblem problem(8, 2, {linear(10, 3), linear(20, 1)});
  const TestOnesPopulation before{{4, 5, 1, 0}, {0, 3, 2, 1}};

  const OnesBuffers result = evolve_by_oracle(problem, {.generations = 0, .population = before});

  EXPECT_EQ(result.first, (Counts{0, 5, 1, 0}));
  EXPECT_EQ(result.count, before.count);
  EXPECT_EQ(result.score, (std::vector<std::int64_t>{0, 0}));
}

TEST(Ones, OneGpuGoesToTheShortestJob) {
  const OnesProblem problem(1, 16, {linear(30, 1), linear(10, 1), linear(20, 1)});

  const OnesBuffers result = evolve_by_oracle(problem, {.generations = 3});

  EXPECT_EQ(result.counts_of(0), (Counts{0, 1, 0}));
  EXPECT_EQ(result.least.back(), 10'000);
}

TEST(Ones, NoJobsHaveNothing) {
  const OnesProblem problem(4, 2, {});

  const OnesBuffers result = evolve_by_oracle(problem, {.generations = 2});

  EXPECT_EQ(result.score, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(result.least, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(result.generations, 2);
  EXPECT_EQ(objection(problem, result), "");
}

}  // namespace berth::test::ones_test
