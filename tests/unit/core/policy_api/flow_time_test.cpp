#include "host/core/policy_api/flow_time.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "berth/state.hpp"
#include "host/core/state/state_view.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::core::flow_time_test {
namespace {

constexpr std::int64_t kOne = 1'000'000;  // weight

// Speeds of GPUs^p.
std::vector<kernel::ShapeTerms> powers(double p, std::int32_t most) {
  std::vector<kernel::ShapeTerms> shapes;
  for (std::int32_t gpus = 1; gpus <= most; ++gpus) {
    shapes.push_back({gpus, static_cast<std::int64_t>(std::llround(1e6 * std::pow(gpus, p))), kSecond, 0, 1});
  }
  return shapes;
}

// The value of one GPU to each job, over that of the first.
std::vector<double> values_of_one_gpu(const FlowRanks& ranks, std::size_t jobs, const std::vector<kernel::ShapeTerms>& shapes) {
  std::vector<double> values;
  for (std::size_t j = 0; j < jobs; ++j) {
    kernel::JobTerms terms{};
    ranks.describe(j, shapes, terms);
    values.push_back(static_cast<double>(terms.rank_value) / static_cast<double>(terms.rank_speed));
  }
  return values;
}

// heSRPT: with jobs ranked from the largest, [i^e - (i-1)^e]^(1/e), e = 1 / (1 - p). An eighth of the jobs with less work is
// added to i.
TEST(FlowTime, ForPowersTheWeightsAreThoseOfHeSrpt) {
  std::vector<RankedJob> jobs;
  for (std::int64_t j = 0; j < 8; ++j) jobs.push_back({{1'000 - 100 * j}, kOne});
  FlowRanks ranks;
  ranks.set(jobs, 64);
  const double e = 24;
  const std::vector<double> values = values_of_one_gpu(ranks, jobs.size(), powers((e - 1) / e, 64));
  const auto weight = [e](std::size_t j) {
    const double i = static_cast<double>(j) + 1 + (7 - static_cast<double>(j)) / 8;
    return std::pow(std::pow(i, e) - std::pow(i - 1, e), 1 / e);
  };
  for (std::size_t j = 1; j < values.size(); ++j) EXPECT_NEAR(values[j] / values[0], weight(j) / weight(0), 0.003 * weight(j)) << j;
}

// With more jobs than GPUs each GPU serves one job, the shortest first, and a second of work delays all jobs behind it.
TEST(FlowTime, WithManyMoreJobsThanGpusWeightsAreLinearInTheRank) {
  std::vector<RankedJob> jobs;
  for (std::int64_t j = 0; j < 400; ++j) jobs.push_back({{1'000'000 - j}, kOne});
  FlowRanks ranks;
  ranks.set(jobs, 4);
  const std::vector<double> values = values_of_one_gpu(ranks, jobs.size(), powers(0.5, 4));
  EXPECT_NEAR((values[399] - values[299]) / (values[299] - values[199]), 1, 0.001);
}

TEST(FlowTime, EqualJobsShareARank) {
  std::vector<RankedJob> jobs(1000, {{500}, kOne});
  jobs.push_back({{400}, kOne});
  jobs.push_back({{600}, kOne});
  FlowRanks ranks;
  ranks.set(jobs, 64);
  const std::vector<double> values = values_of_one_gpu(ranks, jobs.size(), powers(0.8, 64));
  for (std::size_t j = 1; j < 1000; ++j) ASSERT_EQ(values[j], values[0]);
  EXPECT_GT(values[1000], values[0]);
  EXPECT_LT(values[1001], values[0]);
}

TEST(FlowTime, AHeavierJobRanksAsIfItHadLessWork) {
  FlowRanks ranks;
  ranks.set(std::vector<RankedJob>{{{100}, kOne}, {{150}, 2 * kOne}}, 8);
  const std::vector<double> values = values_of_one_gpu(ranks, 2, powers(0.8, 8));
  EXPECT_GT(values[1], 2 * values[0]);
}

TEST(FlowTime, ASpeedThatFallsWithMoreGpusGivesThemNoValue) {
  FlowRanks ranks;
  ranks.set(std::vector<RankedJob>{{{100}, kOne}}, 8);
  kernel::JobTerms terms{};
  ranks.describe(0, std::vector<kernel::ShapeTerms>{{1, 2'000'000, 1, 0, 1}, {2, 1'000'000, 1, 0, 1}, {4, 0, 1, 0, 1}}, terms);
  EXPECT_EQ(terms.rank_speed, 2'000'000);
  ranks.describe(0, std::vector<kernel::ShapeTerms>{{4, 0, 1, 0, 1}}, terms);
  EXPECT_EQ(terms.rank_value, 0);
  EXPECT_EQ(terms.rank_speed, 1);
}

// A job of which only the attained service is known stands for shorter and for longer ones.
TEST(FlowTime, AnUnknownRankIsTheMeanOverWhatTheJobMayBe) {
  FlowRanks ranks;
  std::vector<RankedJob> jobs{{{1'000'000}, kOne}, {{1'000}, kOne}, {{20'000, WorkSource::kAttained}, kOne}};
  ranks.set(jobs, 8);
  const std::vector<double> values = values_of_one_gpu(ranks, 3, powers(0.8, 8));
  EXPECT_GT(values[1], values[2]);
  EXPECT_GT(values[2], values[0]);
  // Where it is one of equals half of them count as larger, and three eighths of the rest as delayed in any case.
  jobs.assign(101, {{20'000, WorkSource::kAttained}, kOne});
  ranks.set(jobs, 8);
  kernel::JobTerms terms{};
  ranks.describe(0, powers(0.8, 8), terms);
  const std::int64_t of_equals = terms.rank_value;
  jobs.assign(70, {{20'000}, kOne});
  for (std::int64_t j = 0; j < 69; ++j) jobs[static_cast<std::size_t>(j)].left.one_gpu_us = 30'000 + j;
  jobs[0].weight_ppm = 750'000;
  ranks.set(jobs, 8);
  ranks.describe(69, powers(0.8, 8), terms);
  EXPECT_EQ(of_equals, terms.rank_value);
}

TEST(PriorityFactors, EachLowerPriorityDoublesTheWeight) {
  PriorityFactors factors;
  factors.set(std::vector<std::int32_t>{7, -3, 7, 1000});
  Job job;
  job.weight_ppm = 3 * kOne;
  for (const auto& [priority, factor] : {std::pair(-3, 1), std::pair(7, 2), std::pair(1000, 4)}) {
    job.priority = priority;
    EXPECT_EQ(factors.weight(job), factor * 3 * kOne) << priority;
  }
  std::vector<std::int32_t> many(100);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int32_t>(i);
  factors.set(many);
  job.priority = 99;
  EXPECT_EQ(factors.weight(job), 1024 * 3 * kOne);
}

// A job of 2 GPUs whose smallest shape has 2.
class WorkLeftOf : public ::testing::Test {
 protected:
  WorkLeftOf() : snapshot(test::one_node(4)) { job = &test::elastic(snapshot, "a", {{2, 3'000'000}, {4, 4'000'000}}); }
  WorkLeft left() const {
    const ClusterState state(snapshot);
    return work_left(impl_of(state), 0, 3'000'000);
  }
  Snapshot snapshot;
  Job* job;
};

TEST_F(WorkLeftOf, KnownWorkIsExact) {
  job->progress.work_total = 30'000'000;
  job->progress.work_done = 6'000'000;
  EXPECT_EQ(left().source, WorkSource::kExact);
  EXPECT_EQ(left().one_gpu_us, 16 * kSecond) << "8 s on 2 GPUs";
  job->progress.work_done = 30'000'000;
  EXPECT_EQ(left().one_gpu_us, 1);
}

TEST_F(WorkLeftOf, AnEstimateCountsByTimeOrByGpuTime) {
  job->estimate.run_us = 100 * kSecond;
  EXPECT_EQ(left().source, WorkSource::kEstimate);
  EXPECT_EQ(left().one_gpu_us, 200 * kSecond);
  job->progress.run_us = 90 * kSecond;
  job->progress.attained_gpu_us = 80 * kSecond;
  EXPECT_EQ(left().one_gpu_us, 120 * kSecond);
}

TEST_F(WorkLeftOf, AJobThatOutlivesItsEstimateIsExpectedToGoOn) {
  job->estimate.run_us = 100 * kSecond;
  job->progress.run_us = 500 * kSecond;
  job->progress.attained_gpu_us = 1'000 * kSecond;
  EXPECT_EQ(left().source, WorkSource::kAttained);
  EXPECT_EQ(left().one_gpu_us, 500 * kSecond);
}

TEST_F(WorkLeftOf, NothingKnownIsAMinuteOrHalfOfWhatItHad) {
  EXPECT_EQ(left().source, WorkSource::kAttained);
  EXPECT_EQ(left().one_gpu_us, 60 * kSecond);
  job->progress.attained_gpu_us = 1'000 * kSecond;
  EXPECT_EQ(left().one_gpu_us, 500 * kSecond);
}

TEST_F(WorkLeftOf, ALimitIsAnEstimateAndTheLargestOverflowsNothing) {
  job->time_limit_us = kMaxTimeUs;
  EXPECT_EQ(left().source, WorkSource::kEstimate);
  EXPECT_GE(left().one_gpu_us, kMaxTimeUs);
  // The only shape does almost nothing on many GPUs, and the requested rate is as great as can be.
  Snapshot slow = test::one_node(4);
  test::elastic(slow, "a", {{256, 1}}).time_limit_us = kMaxTimeUs;
  const ClusterState state(slow);
  EXPECT_EQ(work_left(impl_of(state), 0, INT64_MAX).one_gpu_us, INT64_MAX);
}

}  // namespace
}  // namespace berth::core::flow_time_test
