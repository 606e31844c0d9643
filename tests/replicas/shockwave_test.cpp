#include "tests/replicas/shockwave.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/traces.hpp"

namespace berth::test::shockwave_test {
namespace {

ShockwaveJob whole_cluster(double seconds, double steps_rate) { return {0, 32, seconds, seconds, {{0, 1, steps_rate}}}; }

}  // namespace

// The job that takes longer makes ten times the steps a second. Both have the same speed relative to their own.
TEST(ShockwaveReplica, MaxSumPrefersModelsOfShortSteps) {
  const std::vector<ShockwaveJob> jobs{whole_cluster(120, 1), whole_cluster(240, 10)};
  ShockwaveHabits habits;
  habits.start_s = 0;

  EXPECT_EQ(replay_shockwave(jobs, ShockwavePolicy::kMaxSum, habits).mean_s, (240 + 360) / 2);
  habits.counts_steps = false;
  EXPECT_EQ(replay_shockwave(jobs, ShockwavePolicy::kMaxSum, habits).mean_s, (120 + 360) / 2);
}

// The second job comes in the first round. It loses 20 s of its own first round, and ends in a further one.
TEST(ShockwaveReplica, AJobThatDidNotRunLosesTimeAndWaitsForAnAllocation) {
  std::vector<ShockwaveJob> jobs{whole_cluster(120, 1), whole_cluster(120, 1)};
  jobs[0].submit_s = 10;
  jobs[1].submit_s = 50;
  ShockwaveHabits habits;
  habits.between_allocations_s = 0;
  EXPECT_EQ(replay_shockwave(jobs, ShockwavePolicy::kAllox, habits).makespan_s, 130 + 120 + 20);
  habits.start_s = 0;
  EXPECT_EQ(replay_shockwave(jobs, ShockwavePolicy::kAllox, habits).makespan_s, 130 + 120);
}

// 33 jobs of one GPU. The last one is the shortest, and of the waiting jobs no more than the 32 earliest are matched.
TEST(ShockwaveReplica, AlloxMatchesTheEarliestJobsOnly) {
  std::vector<ShockwaveJob> jobs(33, ShockwaveJob{0, 1, 240, 240, {{0, 1, 1}}});
  jobs.back().work = jobs.back().run_s = 120;
  ShockwaveHabits habits;
  habits.between_allocations_s = 0;
  habits.start_s = 0;

  EXPECT_EQ(replay_shockwave(jobs, ShockwavePolicy::kAllox, habits).mean_s, (32 * 240.0 + 360) / 33);
  habits.alpha = 1;
  EXPECT_EQ(replay_shockwave(jobs, ShockwavePolicy::kAllox, habits).mean_s, (120 + 31 * 240.0 + 360) / 33);
}

// docs/validation.md has these figures.
TEST(ShockwaveReplica, HasTheFiguresOfThePage) {
  const std::string trace = trace_file("shockwave/120_0.2_5_100_40_25.trace"), rates = trace_file("shockwave/tacc_throughputs.json.gz");
  if (trace.empty() || rates.empty()) GTEST_SKIP() << "shockwave/ is not here";
  const std::vector<ShockwaveJob> jobs = read_shockwave_jobs({trace, rates});

  EXPECT_NEAR(replay_shockwave(jobs, ShockwavePolicy::kAllox).mean_s, 9'884.0, 1);
  EXPECT_NEAR(replay_shockwave(jobs, ShockwavePolicy::kMaxSum).mean_s, 9'843.4, 0.1);
  ShockwaveHabits all_matched;
  all_matched.alpha = 1;
  EXPECT_NEAR(replay_shockwave(jobs, ShockwavePolicy::kAllox, all_matched).mean_s, 8'238.6, 0.1);
  ShockwaveHabits none{0, 0, false, 1, true, false};
  EXPECT_LT(replay_shockwave(jobs, ShockwavePolicy::kMaxSum, none).mean_s, 8'300);
}

}  // namespace berth::test::shockwave_test
