#include "host/sim/counts/release_profile.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace berth::sim::release_profile_test {
namespace {

std::int32_t add(CountedJobs& jobs, std::int32_t gpus) {
  const std::int32_t job = jobs.add();
  jobs[job].rank = job;
  jobs[job].gpus = gpus;
  return job;
}

using Released = std::vector<std::int32_t>;

}  // namespace

TEST(ReleaseProfile, TakesJobsByTheirEndsUntilTheyAreEnough) {
  CountedJobs jobs;
  ReleaseProfile profile;
  for (const std::int32_t gpus : {4, 2, 1}) add(jobs, gpus);
  profile.add(jobs, 0, 0, 30, 0);
  profile.add(jobs, 1, 0, 10, 0);
  profile.add(jobs, 2, 0, 10, 0);
  Released released;

  EXPECT_EQ(profile.when(jobs, 2, 0, released), 10);
  EXPECT_EQ(released, (Released{1}));
  EXPECT_EQ(profile.when(jobs, 4, 0, released), 30);
  EXPECT_EQ(released, (Released{1, 2, 0}));
  EXPECT_EQ(profile.when(jobs, 8, 0, released), kNever);
  profile.remove(jobs, 1);
  EXPECT_EQ(profile.when(jobs, 1, 0, released), 10);
  EXPECT_EQ(released, (Released{2}));
}

TEST(ReleaseProfile, AJobThatRunsForLongerThanPredictedEndsAtTheNextMicrosecond) {
  CountedJobs jobs;
  ReleaseProfile profile;
  for (const std::int32_t gpus : {1, 1, 1}) add(jobs, gpus);
  profile.add(jobs, 2, 0, 10, 0);
  profile.add(jobs, 1, 0, 20, 0);
  profile.add(jobs, 0, 0, 21, 0);
  EXPECT_FALSE(profile.moves());
  Released released;

  profile.advance(jobs, 20);

  EXPECT_TRUE(profile.moves());
  EXPECT_EQ(profile.when(jobs, 3, 20, released), 21);
  EXPECT_EQ(released, (Released{0, 1, 2}));  // at one instant, by rank
  profile.remove(jobs, 2);
  profile.remove(jobs, 1);
  EXPECT_FALSE(profile.moves());
}

TEST(ReleaseProfile, TheEndOfAJobThatPaysMovesUntilItWorks) {
  CountedJobs jobs;
  ReleaseProfile profile;
  add(jobs, 1);
  jobs[0].working_from = 30;
  profile.add(jobs, 0, 0, 100, 30);
  Released released;

  EXPECT_EQ(profile.when(jobs, 1, 0, released), 100);
  profile.advance(jobs, 29);
  EXPECT_TRUE(profile.moves());
  EXPECT_EQ(profile.when(jobs, 1, 29, released), 129);
  profile.advance(jobs, 40);
  EXPECT_FALSE(profile.moves());
  EXPECT_EQ(profile.when(jobs, 1, 40, released), 130);
}

TEST(ReleaseProfile, AJobOfUnknownRunTimeReleasesNothing) {
  CountedJobs jobs;
  ReleaseProfile profile;
  add(jobs, 1);
  profile.add(jobs, 0, 0, kNever, 0);
  Released released;

  EXPECT_EQ(profile.when(jobs, 1, 0, released), kNever);
  profile.remove(jobs, 0);
  EXPECT_EQ(profile.version(), 2);
}

}  // namespace berth::sim::release_profile_test
