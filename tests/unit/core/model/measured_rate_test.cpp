#include "host/core/model/measured_rate.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace berth::core::measured_rate_test {
namespace {

Shape shape(std::int32_t gpus, std::int32_t batch = 0, const char* type = "") {
  Shape one;
  one.id = std::to_string(gpus) + type;
  one.gpus = gpus;
  one.local_batch = batch;
  one.gpu_type = type;
  return one;
}

}  // namespace

TEST(InterpolatedRate, OnePointIsALineThroughTheOrigin) {
  const std::vector<Seen> seen{{4, 4'000}};

  EXPECT_EQ(interpolated_rate(seen, 1), 1'000);
  EXPECT_EQ(interpolated_rate(seen, 4), 4'000);
  EXPECT_EQ(interpolated_rate(seen, 64), 64'000);
}

TEST(InterpolatedRate, IsLinearBetweenPointsAndAlongTheLastSegment) {
  const std::vector<Seen> seen{{2, 1'000}, {4, 1'800}, {8, 2'200}};

  EXPECT_EQ(interpolated_rate(seen, 1), 500);
  EXPECT_EQ(interpolated_rate(seen, 2), 1'000);
  EXPECT_EQ(interpolated_rate(seen, 3), 1'400);
  EXPECT_EQ(interpolated_rate(seen, 5), 1'900);
  EXPECT_EQ(interpolated_rate(seen, 16), 3'000);
}

TEST(InterpolatedRate, AFallingLastSegmentEndsAtOne) {
  const std::vector<Seen> seen{{4, 1'000}, {8, 400}};

  EXPECT_EQ(interpolated_rate(seen, 10), 100);
  EXPECT_EQ(interpolated_rate(seen, 11), 1);
  EXPECT_EQ(interpolated_rate(seen, 100'000'000), 1);
}

TEST(InterpolatedRate, RoundsDownOnBothSlopes) {
  EXPECT_EQ(interpolated_rate(std::vector<Seen>{{3, 10}}, 1), 3);
  EXPECT_EQ(interpolated_rate(std::vector<Seen>{{1, 20}, {4, 10}}, 2), 16);  // 20 - 10/3
}

TEST(InterpolatedRate, SaturatesAndKnowsNothingFromNothing) {
  EXPECT_EQ(interpolated_rate(std::vector<Seen>{{1, INT64_MAX}}, 100'000'000), INT64_MAX);
  EXPECT_EQ(interpolated_rate({}, 8), 0);
}

TEST(MeasuredRate, TheMeanOfTheLastFiveObservationsReplacesThePoint) {
  Job job;
  job.shapes = {shape(2), shape(4)};
  job.profile.points = {{"", 2, 0, "", 900}, {"", 4, 0, "", 1'500}};
  job.progress.observed = {{2, {999'999, 100, 200, 300, 400, 501}}};

  EXPECT_EQ(measured_rate(job, job.shapes[0], job.shapes[0].gpus, "v100", "node"), 300);  // floor(1501 / 5)
  EXPECT_EQ(measured_rate(job, job.shapes[1], job.shapes[1].gpus, "v100", "node"), 1'500);
  EXPECT_EQ(measured_rate(job, shape(3), 3, "v100", "node"), 900);
}

TEST(MeasuredRate, ObservationsSpeakForTheTypeTheyWereMadeOnOnly) {
  Job job;
  job.shapes = {shape(2, 0, "v100"), shape(2, 0, "a100")};
  job.profile.points = {{"", 2, 0, "", 900}};
  job.progress.observed = {{2, {300}}};

  EXPECT_EQ(measured_rate(job, job.shapes[0], job.shapes[0].gpus, "v100", "node"), 900);
  job.allocation.shape = "2v100";
  job.allocation.entries.resize(1);
  EXPECT_EQ(measured_rate(job, job.shapes[0], job.shapes[0].gpus, "v100", "node"), 300);
  EXPECT_EQ(measured_rate(job, job.shapes[1], job.shapes[1].gpus, "a100", "node"), 900);
}

TEST(MeasuredRate, TheMostSpecificPointWins) {
  Job job;
  job.shapes = {shape(4, 32)};
  job.profile.points = {{"", 4, 0, "", 1},          {"", 4, 0, "rack", 2},     {"", 4, 32, "", 3},     {"", 4, 32, "rack", 4},
                        {"a100", 4, 0, "", 5},      {"a100", 4, 0, "rack", 6}, {"a100", 4, 32, "", 7}, {"a100", 4, 32, "rack", 8},
                        {"a100", 4, 64, "rack", 9}, {"v100", 4, 32, "rack", 9}};
  // Removing the best point makes the next one best.
  for (const std::int64_t winner : {8, 7, 6, 5, 4, 3, 2, 1, 0}) {
    EXPECT_EQ(measured_rate(job, job.shapes[0], job.shapes[0].gpus, "a100", "rack"), winner);
    auto& points = job.profile.points;
    for (auto point = points.begin(); point != points.end(); ++point) {
      if (point->rate == winner) {
        points.erase(point);
        break;
      }
    }
  }
}

TEST(MeasuredRate, ACountThatWasSeenHasItsOwnRateWhateverItsNeighboursAre) {
  Job job;
  job.shapes = {shape(4)};
  job.profile.points = {{"", 2, 0, "", 50}, {"", 4, 0, "", 70}, {"", 4, 0, "", 71}, {"a100", 4, 0, "", 72}, {"", 8, 0, "", 10}};
  job.progress.observed = {{8, {20}}, {8, {30, 40}}, {8, {}}};

  EXPECT_EQ(measured_rate(job, shape(4), 4, "v100", "node"), 70);  // of equal points the earlier
  EXPECT_EQ(measured_rate(job, shape(4), 4, "a100", "node"), 72);
  EXPECT_EQ(measured_rate(job, shape(8), 8, "a100", "node"), 35);  // the last one that applies
  EXPECT_EQ(measured_rate(job, shape(6), 6, "v100", "node"), 52);  // halfway, rounded down
  job.profile.points[1].rate = 0;
  EXPECT_EQ(measured_rate(job, shape(4), 4, "v100", "node"), 1);
}

TEST(MeasuredRate, AShapeWithoutABatchTakesTheSmallestMeasured) {
  Job job;
  job.shapes = {shape(4)};
  job.profile.points = {{"", 4, 64, "", 640}, {"", 4, 32, "", 320}};

  EXPECT_EQ(measured_rate(job, job.shapes[0], job.shapes[0].gpus, "a100", "rack"), 320);
  EXPECT_EQ(measured_rate(job, shape(4, 16), 4, "a100", "rack"), 0);
}

}  // namespace berth::core::measured_rate_test
