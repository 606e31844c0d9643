#include "tests/replicas/ones.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace berth::test::ones_test {
namespace {

/// Rates in proportion to the GPUs: 64 samples a second on each.
OnesJob linear(double submit_s, int gpus, double epochs, double epoch_size) {
  OnesJob job{submit_s, gpus, epochs, epoch_size, {}};
  for (int n = 1; n <= 64; ++n) job.rate.push_back(64.0 * n);
  return job;
}

constexpr OnesCosts kFree{0, 0, 1, true};

}  // namespace

TEST(OnesReplica, AJobAloneDoublesAtEachGenerationBeyondFourTimesItsRequest) {
  // 8 epochs of 1 s on 1 GPU. Its limit is 4 GPUs, but GPUs that would be idle are filled beyond it.
  const OnesFigures figures = replay_ones({linear(0.5, 1, 8, 64)}, 1, kFree);

  EXPECT_EQ(figures.resizes, 3);  // to 2, 4 and 8
  EXPECT_EQ(figures.moves, 0);
  EXPECT_EQ(figures.stops, 0);
  // Seen at 1 s. An epoch and the evaluation before it at 2 s; 128 samples until 3 s, 256 until 4 s, and the other 64 at 512 a second.
  EXPECT_EQ(figures.jct_s, std::vector<double>{4.125 - 0.5});
  EXPECT_EQ(figures.run_s, 3.125);
}

TEST(OnesReplica, WithoutTheFirstEvaluationAJobIsFreshForTwoEpochs) {
  OnesHabits habits;
  habits.counts_first_evaluation = false;

  EXPECT_EQ(replay_ones({linear(0.5, 1, 8, 64)}, 1, kFree, habits).jct_s, std::vector<double>{1 + 2 + 1 + 1 - 0.5});
}

TEST(OnesReplica, StartsAndResizesTakeWhatTheyCost) {
  const OnesCosts costs{2, 0.5, 1, true};
  const OnesFigures figures = replay_ones({linear(0.5, 1, 10, 64)}, 1, costs);

  // It trains from 3 s on. A generation at 4 s sees the epoch: 64 samples a second until 6 s, 128 from 6.5 s on. The next generation is
  // at 7.5 s: 128 a second until 9.5 s, 256 from 10 s on. 640 - 3 x 64 - 3 x 128 = 64 samples are left.
  EXPECT_EQ(figures.resizes, 2);
  EXPECT_EQ(figures.jct_s, std::vector<double>{10.25 - 0.5});
}

TEST(OnesReplica, AnEpochThatMostlyPassedCountsAndItsSamplesAreKept) {
  // Whatever is interrupted, all samples are trained: no job ends sooner than its work takes on all GPUs that it may have.
  for (const OnesJob& job : draw_ones_replica(20, 3)) {
    const OnesFigures alone = replay_ones({job}, 3);
    const double fastest = job.epochs * job.epoch_size / *std::max_element(job.rate.begin(), job.rate.end());
    EXPECT_GT(alone.mean_s, fastest);
    EXPECT_EQ(alone.stops, 0);
  }
}

TEST(OnesReplica, NeverGivesMoreGpusThanThereAreAndEndsAllJobs) {
  for (const std::uint64_t seed : {1U, 2U}) {
    const OnesFigures figures = replay_ones(draw_ones_replica(30, seed), seed);
    EXPECT_EQ(figures.jct_s.size(), 30U);
    EXPECT_LE(figures.utilisation, 1);
    EXPECT_GT(figures.utilisation, 0.3);
    EXPECT_EQ(figures.jct_s, replay_ones(draw_ones_replica(30, seed), seed).jct_s);
  }
}

TEST(OnesReplica, EachHabitChangesWhatHappens) {
  std::vector<OnesJob> jobs = draw_ones_replica(20, 2);
  for (OnesJob& job : jobs) job.submit_s /= 5;  // so near to each other that a crossover loses one
  const OnesFigures all = replay_ones(jobs, 2);
  for (bool OnesHabits::*habit : {&OnesHabits::stamps_all, &OnesHabits::moves_count, &OnesHabits::halves_waiting, &OnesHabits::loses_fresh,
                                  &OnesHabits::counts_first_evaluation, &OnesHabits::blocks}) {
    OnesHabits without;
    without.*habit = false;
    EXPECT_NE(replay_ones(jobs, 2, {}, without).jct_s, all.jct_s);
  }
  EXPECT_GT(all.moves, 0);
}

}  // namespace berth::test::ones_test
