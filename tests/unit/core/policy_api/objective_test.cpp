#include "berth/kernel/price/objective.hpp"

#include <gtest/gtest.h>

#include "host/core/policy_api/objective.hpp"

namespace berth::kernel::objective_test {
namespace {

constexpr TimeUs kHour = 3600 * kSecond;

ObjectiveTerms terms(Objective objective) { return {objective, Power::kMinusOne, kHour, 10 * kHour, 0, 0}; }
JobTerms job() { return {1'000'000, 8 * kHour, 4 * kHour}; }
ShapeTerms shape() { return {4, 2'000'000, 2 * kHour, 0, 500}; }

TEST(Objective, ThroughputIsTheSpeed) { EXPECT_EQ(shape_value(terms(Objective::kThroughput), job(), shape()), 2'000'000); }

TEST(Objective, NoValueAboveZeroIsRoundedToZero) {
  kernel::ObjectiveTerms terms{kernel::Objective::kFlowTime, kernel::Power::kOne, 1, 1'000, 40, 50};
  kernel::JobTerms job{1, 1, 1};
  job.rank_value = 1;
  job.rank_speed = 1'000'000'000;
  const kernel::ShapeTerms shape{1, kernel::kSpeedUnit, 10, 0, 1};
  for (const kernel::Objective objective : {kernel::Objective::kFlowTime, kernel::Objective::kSruf, kernel::Objective::kThroughput}) {
    terms.objective = objective;
    EXPECT_EQ(kernel::shape_value(terms, job, shape), 1);
  }
}

TEST(Objective, AWeightMultiplies) {
  JobTerms heavy = job();
  heavy.weight_ppm = 1'500'000;
  EXPECT_EQ(shape_value(terms(Objective::kThroughput), heavy, shape()), 3'000'000);
}

TEST(Objective, AChangeCostsItsPartOfTheHorizon) {
  ShapeTerms changed = shape();
  changed.cost = kHour / 4;
  EXPECT_EQ(shape_value(terms(Objective::kThroughput), job(), changed), 1'500'000);
  changed.cost = kHour;
  EXPECT_EQ(shape_value(terms(Objective::kThroughput), job(), changed), 0);
}

TEST(Objective, GoodputIsThePowerOfTheSpeedOverThatOfWaiting) {
  ObjectiveTerms t = terms(Objective::kGoodput);
  // 1 / 0.001 - 1 / 2.001 = 999.500249...
  EXPECT_EQ(shape_value(t, job(), shape()), 999'500'250);
  t.power = Power::kMinusHalf;  // 1 / sqrt(0.001) - 1 / sqrt(2.001) = 31.6228 - 0.70693, with roots cut to millionths
  EXPECT_EQ(shape_value(t, job(), shape()), 1'000'000'000'000 / 31'622 - 1'000'000'000'000 / 1'414'567);
  t.power = Power::kHalf;  // sqrt(2.001) - sqrt(0.001)
  EXPECT_EQ(shape_value(t, job(), shape()), 1'414'567 - 31'622);
  t.power = Power::kOne;
  EXPECT_EQ(shape_value(t, job(), shape()), 2'000'000);
}

TEST(Objective, FlowTimeIsTheRanksValueAtAnotherSpeed) {
  JobTerms of = job();
  of.rank_value = 600;
  of.rank_speed = 3'000'000;
  EXPECT_EQ(shape_value(terms(Objective::kFlowTime), of, shape()), 400);
}

TEST(Objective, UnderFlowTimeAStartCostsItsPartOfTheTimeUntilTheEnd) {
  JobTerms of = job();
  of.rank_value = 300;
  of.rank_speed = 1'000'000;
  ShapeTerms starts = shape();
  starts.cost = 2 * kHour;
  EXPECT_EQ(shape_value(terms(Objective::kFlowTime), of, starts), 300);
  of.first_start = 4 * kHour;
  EXPECT_EQ(shape_value(terms(Objective::kFlowTime), of, starts), 150);
  of.first_start = 0;
  of.mean_run = 3;
  EXPECT_EQ(shape_value(terms(Objective::kFlowTime), of, starts), 450);
  starts.run = 1;
  starts.cost = kMaxTimeUs;
  EXPECT_EQ(shape_value(terms(Objective::kFlowTime), of, starts), 1);
  starts.run = kMaxTimeUs;
  starts.cost = TimeUs{1} << 44;
  of.mean_run = 13;
  EXPECT_EQ(shape_value(terms(Objective::kFlowTime), of, starts), 599);
}

// With linear speeds every shape takes the start alone.
TEST(Objective, UnderFlowTimeAShapeIsNotSlowerByRoundingWhereTheStartIsLong) {
  JobTerms of = job();
  for (const std::int64_t gpus : {1, 16, 256, 1024}) {
    ShapeTerms linear = shape();
    linear.cost = kHour;
    linear.speed = gpus * kSpeedUnit;
    linear.run = kSecond / gpus;
    EXPECT_NEAR(static_cast<double>(average_speed(of, linear)), 277, 1) << gpus;
  }
  ShapeTerms cannot_run = shape();
  cannot_run.speed = 0;
  cannot_run.cost = kHour / 4;
  EXPECT_EQ(average_speed(of, cannot_run), 0);
  of.stands = kHour;
  EXPECT_EQ(average_speed(of, cannot_run), 0);
}

TEST(Objective, UnderFlowTimeAChangeCostsItsPartOfTheTimeUntilTheNextOne) {
  JobTerms of = job();
  of.rank_value = 300;
  of.rank_speed = 1'000'000;
  of.stands = kHour;
  ShapeTerms changed = shape();
  changed.cost = kHour / 4;
  EXPECT_EQ(shape_value(terms(Objective::kFlowTime), of, changed), 450);
  changed.run = kHour / 4;  // it ends after half an hour
  EXPECT_EQ(shape_value(terms(Objective::kFlowTime), of, changed), 300);
  changed.cost = kHour;
  changed.run = kHour;
  EXPECT_EQ(shape_value(terms(Objective::kFlowTime), of, changed), 0);
}

TEST(Objective, SrufRewardsGpusAtWorkAndTakesOffWhatRemains) {
  EXPECT_EQ(shape_value(terms(Objective::kSruf), job(), shape()), 4 * (10 * kHour + 1 - 2 * kHour));
  ObjectiveTerms cut = terms(Objective::kSruf);
  cut.sruf_shift = 2;
  EXPECT_EQ(shape_value(cut, job(), shape()), 10 * kHour + 1 - 2 * kHour);
}

TEST(Objective, FinishTimeFairnessIsTimeSavedOverTimeAlone) {
  // (1 + 8 - 2) hours of 4.
  EXPECT_EQ(shape_value(terms(Objective::kFinishTimeFairness), job(), shape()), 1'750'000);
}

TEST(Objective, CostIsSpeedForMoney) {
  // Speed 2 on 4 GPUs of 0.5 an hour.
  EXPECT_EQ(shape_value(terms(Objective::kCost), job(), shape()), 1'000'000'000);
}

// 1.1 - round(G^-0.5, 2).
TEST(Objective, SiaIsTheRoundedRootOfTheSpeedOverTheLeast) {
  const auto value = [](std::int64_t speed, std::int64_t least) {
    JobTerms of = job();
    of.least_speed = least;
    ShapeTerms at = shape();
    at.speed = speed;
    return shape_value(terms(Objective::kSia), of, at);
  };
  EXPECT_EQ(value(1'000'000, 1'000'000), 100'000);
  EXPECT_EQ(value(2'000'000, 1'000'000), 390'000);  // 0.7071
  EXPECT_EQ(value(4'000'000, 1'000'000), 600'000);  // 0.5
  EXPECT_EQ(value(1'000'000, 250'000), 600'000);
  EXPECT_EQ(value(64'000'000, 1'000'000), 980'000);  // 0.125 becomes 0.12
}

TEST(Objective, SiaCountsRestartsByAge) {
  JobTerms of = job();
  of.age = kHour;
  of.restarts = 2;
  ShapeTerms at = shape();
  at.cost = 60 * kSecond;
  // G = 2 x 3480 / 3660 = 1.9016, and 0.7252.
  EXPECT_EQ(shape_value(terms(Objective::kSia), of, at), 370'000);
  at.cost = 0;  // it runs in it
  EXPECT_EQ(shape_value(terms(Objective::kSia), of, at), 390'000);
  at.cost = 60 * kSecond;
  of.age = 59 * kSecond;  // too young
  EXPECT_EQ(shape_value(terms(Objective::kSia), of, at), 390'000);
  of.age = 120 * kSecond;  // all of its life went into restarts: cut at 3000
  EXPECT_EQ(shape_value(terms(Objective::kSia), of, at), 1'100'000 - 3'000'000'000);
}

TEST(Objective, AShapeWithoutSpeedHasNoValue) {
  ShapeTerms still = shape();
  still.speed = 0;
  for (const core::ObjectiveInfo& one : core::objectives()) EXPECT_EQ(shape_value(terms(one.objective), job(), still), 0) << one.name;
}

TEST(Objective, ValuesStayWithinTheirCap) {
  JobTerms heavy = job();
  heavy.weight_ppm = INT64_MAX;
  EXPECT_EQ(shape_value(terms(Objective::kGoodput), heavy, shape()), kMaxPriceValue);
  ShapeTerms slow = shape();
  slow.run = kMaxTimeUs;
  slow.cost = kMaxTimeUs;
  EXPECT_EQ(shape_value(terms(Objective::kFinishTimeFairness), heavy, slow), -kMaxPriceValue);
}

TEST(Objective, ValuesShareAUnit) {
  ObjectiveTerms coarse = terms(Objective::kThroughput);
  coarse.shift = 3;
  EXPECT_EQ(unshifted_value(coarse, job(), shape()), 2'000'000);
  EXPECT_EQ(shape_value(coarse, job(), shape()), 250'000);
}

TEST(Objective, RootsAreExactlyCutDown) {
  for (const std::int64_t v : {std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, std::int64_t{4}, std::int64_t{999'999'999'999},
                               std::int64_t{1'000'000'000'000}, INT64_MAX}) {
    const std::int64_t root = integer_root(v);
    EXPECT_LE(Wide{root} * root, v);
    EXPECT_GT(Wide{root + 1} * (root + 1), v);
  }
}

}  // namespace
}  // namespace berth::kernel::objective_test
