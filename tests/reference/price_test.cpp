#include <gtest/gtest.h>

#include <climits>
#include <string>
#include <vector>

#include "tests/support/choice.hpp"

/// docs/prices.md by hand.
namespace berth::test::price_test {

using Jobs = std::vector<std::vector<TestOption>>;

// "option of each job | price of each type | value of bound (evaluations)"
std::string brief(const ChoiceBuffers& result) {
  std::string text;
  for (const auto option : result.option) text += option < 0 ? "- " : std::to_string(option) + " ";
  text += "|";
  for (const auto price : result.price) text += " " + std::to_string(price);
  return text + " | " + std::to_string(result.value) + " of " + std::to_string(result.bound) + " (" + std::to_string(result.evaluations) +
         ")";
}

// One type and one job: at price 0 it takes the option of the highest value.
TEST(Price, OneJobTakesItsBest) {
  const ChoiceProblem problem({4}, {{{0, 1, 10}, {0, 2, 16}, {0, 4, 20}}});

  EXPECT_EQ(brief(choose_by_oracle(problem)), "2 | 0 | 20 of 20 (1)");
}

TEST(Price, IsZeroWhereEverythingFits) {
  const ChoiceProblem problem({4, 2}, {{{0, 4, 10}}, {{1, 1, 3}, {0, 1, 2}}, {{1, 1, 1}}});

  const ChoiceBuffers result = choose_by_oracle(problem);

  EXPECT_EQ(brief(result), "0 0 0 | 0 0 | 14 of 14 (1)");
  EXPECT_EQ(result.used, (std::vector<std::int64_t>{4, 2}));
}

TEST(Price, TiesTakeFewerGpusThenTheLowerRow) {
  const ChoiceProblem problem({9, 9}, {{{0, 4, 10}, {0, 2, 10}}, {{1, 3, 5}, {0, 3, 5}}, {{0, 1, 0}}});

  EXPECT_EQ(brief(choose_by_oracle(problem)), "1 0 - | 0 0 | 15 of 15 (1)");
}

TEST(Price, OfNothingIsZero) {
  EXPECT_EQ(brief(choose_by_oracle({{4}, {}})), "| 0 | 0 of 0 (1)");
  EXPECT_EQ(brief(choose_by_oracle({{}, {{}, {}}})), "- - | | 0 of 0 (1)");
  EXPECT_EQ(brief(choose_by_oracle({{4, 4}, {{}}})), "- | 0 0 | 0 of 0 (1)");
}

TEST(Price, NegativeValuesAreNotTaken) {
  const ChoiceProblem problem({4}, {{{0, 1, -1}, {0, 2, -9}}, {{0, 8, -5}}});

  EXPECT_EQ(brief(choose_by_oracle(problem)), "- - | 0 | 0 of 0 (1)");
}

// top = 6, C = 0: 6 / 8 = 0 ends the search for one price. At 0 the job takes 1 GPU, D = V = s = 5; G = -1 of U, m =
// -1/4, 5/4 of which is 1, D' = 4. More than half of the predicted gain: then twice as far, from 1 to 3, and beyond 5,
// where it is limited to 6.
TEST(Price, RisesWhereThereAreNoGpus) {
  const ChoiceProblem problem({0}, {{{0, 1, 5}}});

  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 1})), "- | 0 | 0 of 5 (1)");
  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 2})), "- | 1 | 0 of 4 (2)");
  const ChoiceBuffers result = choose_by_oracle(problem);
  EXPECT_EQ(result.price[0], 6);
  EXPECT_EQ(result.bound, 0);
}

// Both options need more than there is.
TEST(Price, NothingFits) {
  const ChoiceProblem problem({2, 3}, {{{0, 3, 100}, {1, 4, 80}}});

  const ChoiceBuffers result = choose_by_oracle(problem);

  EXPECT_EQ(result.option, std::vector<std::int32_t>{-1});
  EXPECT_EQ(result.value, 0);
  EXPECT_EQ(objection(problem, result), "");
}

// top = 11, C = 2. At 0: 4 GPUs, D = 20. At 11/8 = 1: 4 GPUs, D = 2 + 16. At (1+11)/2 = 6: 1 GPU, D = 12 + 4. At
// (1+6)/2 = 3: 4 GPUs, D = 6 + 8. At (3+6)/2 = 4: 1 GPU, D = 8 + 6, the same, so 3 stays. Of 4 GPUs 2 must be freed: to
// 1 GPU costs 8 - 7, to none 8, both for 2.
TEST(Price, OneForAllTypesIsHalvedIn) {
  const ChoiceProblem problem({2}, {{{0, 1, 10}, {0, 4, 20}}});
  const auto after = [&](std::int32_t evaluations) { return brief(choose_by_oracle(problem, {.most_evaluations = evaluations})); };

  EXPECT_EQ(after(1), "0 | 0 | 10 of 20 (1)");
  EXPECT_EQ(after(2), "0 | 1 | 10 of 18 (2)");
  EXPECT_EQ(after(3), "0 | 6 | 10 of 16 (3)");
  EXPECT_EQ(after(4), "0 | 3 | 10 of 14 (4)");
  EXPECT_EQ(after(5), "0 | 3 | 10 of 14 (5)");
  EXPECT_EQ(choose_by_oracle(problem).bound, 14);
}

// top = 101, C = 11: at 101/8 = 12 all twelve request a GPU, 10 * 1 <= 11. The lowest job gets none. s = 12, V = 1188:
// a step of 12/99/4, rounded up. At price 100 no job gains any more and D = 1100.
TEST(Price, SplitsEqualJobs) {
  const ChoiceProblem problem({11}, Jobs(12, {{0, 1, 100}}));

  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 2})), "- 0 0 0 0 0 0 0 0 0 0 0 | 12 | 1100 of 1188 (2)");
  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 3})), "- 0 0 0 0 0 0 0 0 0 0 0 | 14 | 1100 of 1186 (3)");
  const ChoiceBuffers result = choose_by_oracle(problem);
  EXPECT_EQ(result.value, 1100);
  EXPECT_EQ(result.bound, 1100);
}

// At 0 both jobs request type 0, and the lower one moves to type 1, which costs nothing.
TEST(Price, SplitsJobsOverTwoTypesThatAreEquallyGood) {
  const ChoiceProblem problem({2, 2}, Jobs(2, {{0, 2, 10}, {1, 2, 10}}));

  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 1})), "1 0 | 0 0 | 20 of 20 (1)");
  const ChoiceBuffers result = choose_by_oracle(problem);
  EXPECT_EQ(result.value, 20);
  EXPECT_EQ(result.bound, 20);
}

// Everything in units of u = 2^15. Job 0 takes 1 GPU (64 u) or 4 (96 u), job 1 only matters at price 0, and no job
// requests the GPU of type 1. First centre 32 u, D = 128 u: V = 2^22, C = 4, s = 2^20. G = (3 - 1) / 4 of U, each step
// moves sigma / 2 of s and sigma doubles: 1, 2, 4, 8 and 16 u down. At 1 u job 0 takes 4 GPUs, D = 95 u: G = -1/4, and
// the step leads back by 8 u, to 87 u. Sigma having doubled, 16 u more lead to 25 u and D = 114 u, no better. Then both
// cuts count: where 64 u + 2 l = 96 u - l, at 32/3 u = 349525 1/3, except for the rounding of weights.
TEST(Price, IsSoughtByCuts) {
  constexpr std::int64_t u = 1 << 15;
  const ChoiceProblem problem({3, 1}, {{{0, 1, 64 * u}, {0, 4, 96 * u}}, {{0, 128, 96 * u}}});
  const auto after = [&](std::int32_t evaluations) {
    const ChoiceBuffers result = choose_by_oracle(problem, {.most_evaluations = evaluations, .prices = {32 * u, 0}});
    EXPECT_EQ(result.evaluations, evaluations);
    EXPECT_EQ(result.value, 64 * u);
    return std::pair(result.price[0], result.bound);
  };

  EXPECT_EQ(after(1), std::pair(32 * u, 128 * u));
  EXPECT_EQ(after(2), std::pair(32 * u, 128 * u));
  EXPECT_EQ(after(3), std::pair(31 * u, 126 * u));
  EXPECT_EQ(after(4), std::pair(29 * u, 122 * u));
  EXPECT_EQ(after(5), std::pair(25 * u, 114 * u));
  EXPECT_EQ(after(6), std::pair(17 * u, 98 * u));
  EXPECT_EQ(after(7), std::pair(1 * u, 95 * u));
  EXPECT_EQ(after(8), std::pair(9 * u, 87 * u));
  EXPECT_EQ(after(9), std::pair(9 * u, 87 * u));
  EXPECT_EQ(after(10), std::pair(std::int64_t{349526}, std::int64_t{2796204}));
}

// The same problem at 32 u: sigma = 2^16 predicts 1/64, four times that 1/16, and so on. A quarter of the gap is
// little.
TEST(Price, IsSoughtInLongStepsWhereLittleIsHopedFor) {
  constexpr std::int64_t u = 1 << 15;
  const ChoiceProblem problem({3, 1}, {{{0, 1, 64 * u}, {0, 4, 96 * u}}, {{0, 128, 96 * u}}});
  const auto third = [&](std::int64_t gap_ppm) {
    return choose_by_oracle(problem, {.gap_ppm = gap_ppm, .most_evaluations = 3, .prices = {32 * u, 0}});
  };

  EXPECT_EQ(third(62'499).price[0], 31 * u);
  EXPECT_EQ(third(62'500).price[0], 28 * u);
  EXPECT_EQ(third(250'000).price[0], 16 * u);
}

// One price is found after 8 evaluations: 50, where D = V = 150, s = 50, G = 1. A step of 2^20 already leads to 0 and
// predicts U; one of 2^22 no more.
TEST(Price, IsNoLongerSoughtWhereLongStepsHopeForLittle) {
  const ChoiceProblem problem({3}, Jobs(2, {{0, 2, 100}}));

  EXPECT_EQ(brief(choose_by_oracle(problem, {.gap_ppm = 4'000'000})), "0 - | 50 | 100 of 150 (8)");
  EXPECT_GT(choose_by_oracle(problem, {.gap_ppm = 3'999'999}).evaluations, 8);
}

// D = 128 u, and job 0 takes 64 u: half is missing.
TEST(Price, OfAnEarlierDecisionMayBeGoodEnough) {
  constexpr std::int64_t u = 1 << 15;
  const ChoiceProblem problem({3, 1}, {{{0, 1, 64 * u}, {0, 4, 96 * u}}, {{0, 128, 96 * u}}});

  EXPECT_EQ(choose_by_oracle(problem, {.gap_ppm = 500'000, .prices = {32 * u, 0}}).evaluations, 1);
  EXPECT_GT(choose_by_oracle(problem, {.gap_ppm = 499'999, .prices = {32 * u, 0}}).evaluations, 1);
}

// Jobs have left since: at 0 everything fits, and 0 is the price, unless the choice at the earlier price is equally
// good.
TEST(Price, OfAnEarlierDecisionFallsToZeroWhereEverythingFits) {
  const ChoiceProblem problem({2}, {{{0, 1, 10}, {0, 2, 15}}});

  EXPECT_EQ(brief(choose_by_oracle(problem, {.prices = {5}})), "1 | 5 | 15 of 15 (1)");
  EXPECT_EQ(brief(choose_by_oracle(problem, {.prices = {9}})), "1 | 0 | 15 of 15 (2)");
}

// Type 0 is used as it should be. No job requests type 1: G = 9 * 60 / 280 of U. A step of 1/16 of that, 60 times, is
// 7; one of 1/8 goes beyond 0, where it ends, though 13/60 of U is rounded.
TEST(Price, FallsToZeroWhereNoJobPays) {
  const ChoiceProblem problem({1, 9}, {{{0, 1, 100}}, {{0, 100, 1000}}});

  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 3, .prices = {60, 20}})), "0 - | 60 13 | 100 of 217 (3)");
  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 4, .prices = {60, 20}})), "0 - | 60 0 | 100 of 100 (4)");
}

// Earlier prices are limited to [0, top], top = 6: a price below 0 for unused GPUs would invalidate the bound.
TEST(Price, OfAnEarlierDecisionIsCut) {
  const ChoiceProblem problem({1, 5}, {{{0, 2, 10}}, {{0, 1, 1}}});

  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 2, .prices = {1000, 0}})), "- 0 | 6 0 | 1 of 6 (2)");
  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 2, .prices = {5, -5}})), "- 0 | 5 0 | 1 of 5 (2)");
}

// At 0 both request the GPU of type 0. Job 0 to type 1 loses 2, to none 10; job 1 to none loses 9.
TEST(PriceRepair, MovesToAnotherTypeWhereThatFits) {
  const Jobs jobs{{{0, 1, 10}, {1, 1, 8}}, {{0, 1, 9}}};

  EXPECT_EQ(brief(choose_by_oracle({{1, 1}, jobs}, {.most_evaluations = 1})), "1 0 | 0 0 | 17 of 19 (1)");
  EXPECT_EQ(brief(choose_by_oracle({{1, 0}, jobs}, {.most_evaluations = 1})), "0 - | 0 0 | 10 of 19 (1)");
}

// One GPU too many is used. Job 0 gives up one for 7, job 1 two for 8: only one counts. By GPUs freed job 1 would be
// the one.
TEST(PriceRepair, CountsOnlyTheGpusThatAreMissing) {
  const Jobs jobs{{{0, 2, 17}, {0, 1, 10}}, {{0, 3, 19}, {0, 1, 11}}};

  EXPECT_EQ(brief(choose_by_oracle({{4}, jobs}, {.gap_ppm = 1'000'000, .most_evaluations = 1})), "1 0 | 0 | 29 of 36 (1)");
  EXPECT_EQ(brief(choose_by_oracle({{3}, jobs}, {.gap_ppm = 1'000'000, .most_evaluations = 1})), "0 1 | 0 | 28 of 36 (1)");
}

// At price 2 job 0 nets 2, job 1 nets 5, though its value is lower; both give up the missing GPU.
TEST(PriceRepair, LosesTheLeastNetValue) {
  const ChoiceProblem problem({3}, {{{0, 3, 8}}, {{0, 1, 7}}});

  EXPECT_EQ(brief(choose_by_oracle(problem, {.gap_ppm = 1'000'000, .most_evaluations = 1, .prices = {2}})), "- 0 | 2 | 7 of 13 (1)");
}

// 7/3 is more than 9/4, and ties go to the lower job.
TEST(PriceRepair, ComparesFractions) {
  EXPECT_EQ(brief(choose_by_oracle({{3}, {{{0, 3, 7}}, {{0, 4, 9}}}}, {.most_evaluations = 1})), "0 - | 0 | 7 of 16 (1)");
  EXPECT_EQ(brief(choose_by_oracle({{4}, {{{0, 4, 8}}, {{0, 4, 8}}}}, {.most_evaluations = 1})), "- 0 | 0 | 8 of 16 (1)");
}

TEST(PriceFill, ComparesFractions) {
  const Jobs jobs{{{0, 4, 9}}, {{0, 3, 7}}, {{0, 3, 7}}};

  EXPECT_EQ(brief(choose_by_oracle({{4}, jobs}, {.gap_ppm = 1'000'000, .most_evaluations = 1, .prices = {3}})), "- 0 - | 3 | 7 of 12 (1)");
}

// At price 5 job 0 takes 1 GPU (10 - 5), though 3 have the value 14; the others nothing. Of the two GPUs left job 0
// gains 4/2, job 1 1/1.
TEST(PriceFill, GivesGpusToTheGreatestGain) {
  const ChoiceProblem problem({3}, {{{0, 1, 10}, {0, 3, 14}}, {{0, 1, 1}}, {{0, 100, 100}}});

  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 2, .prices = {5}})), "1 - - | 5 | 14 of 20 (2)");
}

// Type 0 is filled before job 0 leaves it for type 1; job 1 finds its GPU in the second round.
TEST(PriceFill, GoesRoundUntilNothingMoves) {
  const ChoiceProblem problem({1, 4}, {{{0, 1, 10}, {1, 4, 20}}, {{0, 1, 9}}, {{1, 5, 24}}});

  // Prices 9 and 5: job 0 nets 1 and 0; jobs 1 and 2 nothing. D = 9 + 20 + 1 = 30.
  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 2, .prices = {9, 5}})), "1 0 - | 9 5 | 29 of 30 (2)");
}

// At 48 job 0 nets 4 and job 1 -4. One GPU is left, job 1 needs three: the two of job 0 have the value 100, job 1 has
// 140.
TEST(PriceExchange, GivesWhatOneJobHasToAnother) {
  const ChoiceProblem problem({3}, {{{0, 2, 100}}, {{0, 3, 140}, {0, 3, 140}}});

  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 2, .prices = {48}})), "- 0 | 48 | 140 of 148 (2)");
}

// A gap of 48 of 148 is good enough.
TEST(PriceExchange, IsNotSoughtWhereTheGapIsSmall) {
  const ChoiceProblem problem({3}, {{{0, 2, 100}}, {{0, 3, 140}}});

  EXPECT_EQ(choose_by_oracle(problem, {.gap_ppm = 324'324, .most_evaluations = 2, .prices = {48}}).value, 140);
  EXPECT_EQ(choose_by_oracle(problem, {.gap_ppm = 324'325, .most_evaluations = 2, .prices = {48}}).value, 100);
}

// At 49 jobs 0 and 1 net 102 and 2, job 2 -2: it lacks one GPU. Job 0 can give up one for 90, job 1 only both, for 100.
TEST(PriceExchange, TakesFromTheJobThatLosesLeast) {
  const ChoiceProblem problem({7}, {{{0, 2, 200}, {0, 1, 110}}, {{0, 2, 100}}, {{0, 4, 194}}});

  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 2, .prices = {49}})), "1 0 0 | 49 | 404 of 447 (2)");
}

// At 48 and 15 job 0 nets 4, job 1 15 on type 1, job 2 nothing. Job 1 moves to the GPUs of job 0 and leaves its own to
// job 2.
TEST(PriceExchange, IsFollowedByFilling) {
  const ChoiceProblem problem({3, 1}, {{{0, 2, 100}}, {{0, 3, 140}, {1, 1, 30}}, {{1, 1, 10}}});

  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 2, .prices = {48, 15}})), "- 0 0 | 48 15 | 150 of 178 (2)");
}

// Job 1 lacks 64 GPUs, or one more. Job 0 could give 65 of its 66 up.
TEST(PriceExchange, IsForAtMost64GpusLacking) {
  const Jobs jobs{{{0, 66, 6600}, {0, 1, 50}}, {{0, 67, 6630}}, {{0, 1, 60}}};

  EXPECT_EQ(brief(choose_by_oracle({{70}, jobs}, {.most_evaluations = 2, .prices = {99}})), "1 0 0 | 99 | 6740 of 6996 (2)");
  EXPECT_EQ(brief(choose_by_oracle({{69}, jobs}, {.most_evaluations = 2, .prices = {99}})), "0 - 0 | 99 | 6660 of 6897 (2)");
}

// At 38 the one GPU of each other job nets something, job 0 nothing: five GPUs are idle, and it lacks two.
TEST(PriceDisplace, ThoseOfLeastValueForTheirGpusLeave) {
  const ChoiceProblem problem({8}, {{{0, 7, 260}}, {{0, 1, 40}}, {{0, 1, 50}}, {{0, 1, 45}}});

  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 2, .prices = {38}})), "0 - 0 - | 38 | 310 of 325 (2)");
}

TEST(PriceDisplace, OwnGpusNeedNotBeGivenUp) {
  const ChoiceProblem problem({8}, {{{0, 1, 45}, {0, 7, 260}}, {{0, 1, 40}}, {{0, 1, 50}}, {{0, 1, 45}}});

  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 2, .prices = {38}})), "1 - 0 - | 38 | 310 of 332 (2)");
}

// It lacks three, two times two are freed: job 2 returns on the one that is left.
TEST(PriceDisplace, IsFollowedByFilling) {
  const ChoiceProblem problem({9}, {{{0, 7, 260}}, {{0, 1, 50}}, {{0, 2, 78}, {0, 1, 30}}, {{0, 2, 80}}});

  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 2, .prices = {38}})), "0 0 1 - | 38 | 340 of 360 (2)");
}

TEST(PriceDisplace, NoJobLeavesWhereNothingIsGained) {
  const ChoiceProblem problem({2}, {{{0, 2, 9}}, {{0, 1, 5}}, {{0, 1, 4}}});

  EXPECT_EQ(brief(choose_by_oracle(problem, {.most_evaluations = 2, .prices = {4}})), "- 0 0 | 4 | 9 of 10 (2)");
}

TEST(Price, ARequestForTheBoundOnlyGetsNothingElse) {
  const ChoiceProblem problem({3}, {{{0, 2, 100}}, {{0, 3, 140}}});

  const ChoiceBuffers all = choose_by_oracle(problem), bound = choose_by_oracle(problem, {.bound_only = true});

  EXPECT_EQ(bound.option, (std::vector<std::int32_t>{-1, -1}));
  EXPECT_EQ(bound.used, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(bound.value, 0);
  EXPECT_EQ(bound.price, all.price);
  EXPECT_EQ(bound.bound, all.bound);
  EXPECT_EQ(bound.evaluations, all.evaluations);
}

TEST(Price, StopIsAskedBeforeEachEvaluationButTheFirst) {
  const ChoiceProblem problem({2}, {{{0, 1, 10}, {0, 4, 20}}});
  int asked = 0;

  const ChoiceBuffers result = choose_by_oracle(problem, {.stop = [&] { return ++asked == 3; }});

  EXPECT_EQ(asked, 3);
  EXPECT_EQ(result, choose_by_oracle(problem, {.most_evaluations = 3}));
  EXPECT_EQ(choose_by_oracle(problem, {.stop = [] { return true; }}).evaluations, 1);
}

// The greatest numbers of section 1: 2^59 GPU-values at a price of 2^40, nothing overflows.
TEST(Price, HoldsTheGreatestNumbers) {
  const std::int64_t most = kernel::kMaxPriceValue;
  const ChoiceProblem problem({kernel::kMaxPriceCapacity, 0, kernel::kMaxPriceCapacity},
                              {{{0, kernel::kMaxPriceGpus, most}, {1, 1, most}}, {{1, 1, most}}, {{2, 1, -most}}});

  const ChoiceBuffers cold = choose_by_oracle(problem), warm = choose_by_oracle(problem, {.prices = {INT64_MAX, INT64_MAX, INT64_MIN}});

  EXPECT_EQ(cold.value, most);
  EXPECT_EQ(objection(problem, cold), "");
  EXPECT_EQ(warm.value, most);
  EXPECT_EQ(objection(problem, warm), "");
}

}  // namespace berth::test::price_test
