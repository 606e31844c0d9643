#include "host/sim/replay/live_job.hpp"

#include <gtest/gtest.h>

namespace berth::sim::live_job_test {
namespace {

// 100 s of work on 2 GPUs from 10 s on, with a checkpoint of 5 s after each 30 s of work.
struct Saving {
  TimeUs lost(Loss to) const { return static_cast<TimeUs>(job.outcome.lost_gpu_us[static_cast<std::size_t>(to)]); }
  ModelOverheads overheads;
  LiveJob job;
  Saving() {
    overheads.costs.checkpoint_every_us = 30 * kSecond;
    overheads.costs.checkpoint_save_us = 5 * kSecond;
    job.overheads = &overheads;
    job.work = job.left = 100 * kSecond;
    job.hold(2, kSecond, 4 * kSecond, 6 * kSecond, Loss::kMove);
  }
};

}  // namespace

TEST(LiveJob, SavesWhileItWorks) {
  Saving s;

  EXPECT_EQ(s.job.ends_at(), (10 + 100 + 3 * 5) * kSecond);
  EXPECT_EQ(s.job.left_at(8 * kSecond), 100 * kSecond) << "what it has to pay first";
  EXPECT_EQ(s.job.left_at(40 * kSecond), 70 * kSecond);
  EXPECT_EQ(s.job.left_at(43 * kSecond), 70 * kSecond) << "saving";
  EXPECT_EQ(s.job.left_at(47 * kSecond), 68 * kSecond);
  EXPECT_EQ(s.job.left_at(s.job.ends_at()), 0);
  EXPECT_GT(s.job.left_at(s.job.ends_at() - 1), 0);
}

TEST(LiveJob, NeedsNoSaveAtItsEnd) {
  Saving s;
  s.job.left = 60 * kSecond;

  EXPECT_EQ(s.job.ends_at(), (10 + 60 + 5) * kSecond);
}

TEST(LiveJob, GivesUpItsGpusWithItsWorkSaved) {
  Saving s;
  s.job.release(47 * kSecond);

  EXPECT_EQ(s.job.left, 68 * kSecond);
  EXPECT_EQ(s.job.outcome.held_us, 43 * kSecond);
  EXPECT_EQ(s.job.outcome.overhead_us, 6 * kSecond);
  EXPECT_EQ(s.lost(Loss::kMove), 12 * kSecond);
  EXPECT_EQ(s.lost(Loss::kCheckpoint), 10 * kSecond);
  EXPECT_EQ(s.lost(Loss::kLostWork), 0);
}

TEST(LiveJob, LosesInAFailureWhatItHasNotSaved) {
  Saving s;
  s.job.stall(47 * kSecond, 0);
  s.job.release(50 * kSecond);

  EXPECT_EQ(s.job.left, 70 * kSecond);
  EXPECT_EQ(s.lost(Loss::kLostWork), 4 * kSecond);
  EXPECT_EQ(s.lost(Loss::kStalled), 6 * kSecond);
  EXPECT_EQ(s.job.outcome.held_us, 46 * kSecond);
  EXPECT_EQ(s.job.outcome.failures, 1);
}

TEST(LiveJob, ReturnsToWhatItSavedBeforeItsRateChanged) {
  Saving s;
  s.job.change_rate(20 * kSecond, 2 * kSecond);  // 10 s of work are done
  s.job.change_rate(30 * kSecond, kSecond);      // 30 s
  s.job.change_rate(50 * kSecond, 3 * kSecond);  // 45 s, of which 40 s were saved
  EXPECT_EQ(s.job.left_at(50 * kSecond), 55 * kSecond);
  EXPECT_EQ(s.job.left_at(55 * kSecond), 40 * kSecond);
  s.job.stall(55 * kSecond, 0);

  EXPECT_EQ(s.job.left, 60 * kSecond);
}

TEST(LiveJob, KeepsFewLegsHoweverOftenItsRateChanges) {
  Saving s;
  for (std::int64_t i = 1; i <= 1'000; ++i) {
    s.job.change_rate((10 + i) * kSecond, kSecond / 100 * (1 + i % 2));
    EXPECT_LE(s.job.legs.size(), 2U) << i;
  }
}

TEST(LiveJob, SavesInTimeWhenTheNoticeIsEarlyEnough) {
  Saving soon, late;
  soon.job.stall(47 * kSecond, 5 * kSecond);
  late.job.stall(47 * kSecond, 5 * kSecond - 1);

  EXPECT_EQ(soon.job.left, 68 * kSecond);
  EXPECT_EQ(late.job.left, 70 * kSecond);
}

}  // namespace berth::sim::live_job_test
