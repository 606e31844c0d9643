#include "host/forecast/run_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "host/forecast/futures.hpp"

namespace berth::sim::run_times_test {
namespace {

PastJob past(const std::string& user, std::int32_t gpus, TimeUs submit, TimeUs run, TimeUs limit = kNever) {
  PastJob job;
  job.user = user;
  job.gpus = gpus;
  job.submit_us = job.start_us = submit;
  job.run_us = run;
  job.time_limit_us = limit;
  return job;
}

std::vector<TimeUs> draws_of(const RunLaw& law, const RunTimes& times, int n) {
  RunDraws draws(times.groups());
  std::vector<TimeUs> out;
  for (int future = 0; future < n; ++future) {
    draws.begin(7, future);
    out.push_back(draws.draw(law, 0));
  }
  return out;
}

}  // namespace

TEST(RunTimes, AreLongerThanWhatHasRunAndAtMostTheLimit) {
  JobHistory history;
  for (int i = 0; i < 100; ++i) history.jobs.push_back(past("a", 1, i * kSecond, (i + 1) * kSecond));
  const RunTimes times(history, 1000 * kSecond);

  for (const TimeUs run : draws_of(run_law(times, {"a", "", 1, 80 * kSecond}, 50 * kSecond), times, 500)) {
    EXPECT_GT(run, 50 * kSecond);
    EXPECT_LE(run, 80 * kSecond);
  }
  // Longer than any: it may go on for long, never less.
  for (const TimeUs run : draws_of(run_law(times, {"a", "", 1, kNever}, 200 * kSecond), times, 500)) EXPECT_GT(run, 200 * kSecond);
  // A limit that has passed: it ends at once.
  for (const TimeUs run : draws_of(run_law(times, {"a", "", 1, 10 * kSecond}, 20 * kSecond), times, 5)) EXPECT_EQ(run, 20 * kSecond + 1);
}

TEST(RunTimes, OfTheSameUserAndSizeComeFirst) {
  JobHistory history;
  for (int i = 0; i < 200; ++i) {
    history.jobs.push_back(past("short", 1, i * kSecond, kSecond));
    history.jobs.push_back(past("long", 1, i * kSecond, 100 * kSecond));
    history.jobs.push_back(past("long", 8, i * kSecond, 300 * kSecond));
  }
  const RunTimes times(history, 10'000 * kSecond);

  for (const TimeUs run : draws_of(run_law(times, {"short", "", 1, kNever}, 0), times, 100)) EXPECT_EQ(run, kSecond);
  for (const TimeUs run : draws_of(run_law(times, {"long", "", 8, kNever}, 0), times, 100)) EXPECT_EQ(run, 300 * kSecond);
  const std::vector<TimeUs> unknown = draws_of(run_law(times, {"new", "", 1, kNever}, 0), times, 400);
  EXPECT_GT(std::count(unknown.begin(), unknown.end(), kSecond), 100);
  EXPECT_GT(std::count(unknown.begin(), unknown.end(), 100 * kSecond), 100);
}

TEST(RunTimes, OfJobsThatHaveNotEndedAreNotKnown) {
  JobHistory history;
  history.jobs.push_back(past("a", 1, 0, 10 * kSecond));
  history.jobs.push_back(past("a", 1, 0, 60 * kSecond));
  const RunTimes times(history, 30 * kSecond);

  EXPECT_EQ(times.jobs(), 1);
  for (const TimeUs run : draws_of(run_law(times, {"a", "", 1, kNever}, 0), times, 50)) EXPECT_EQ(run, 10 * kSecond);
}

// Two jobs of a user take consecutive run times: where the user's jobs came in a run of short and a run of long ones, both are
// short or both are long.
TEST(RunTimes, OfOneUserAreAlikeInOneFuture) {
  JobHistory history;
  for (int i = 0; i < 100; ++i) history.jobs.push_back(past("a", 1, i * kSecond, kSecond));
  for (int i = 100; i < 200; ++i) history.jobs.push_back(past("a", 1, i * kSecond, 5 * kSecond));
  const RunTimes times(history, 1000 * kSecond);
  const RunLaw law = run_law(times, {"a", "", 1, kNever}, 0);
  RunDraws draws(times.groups());
  int alike = 0, longer = 0;
  for (int future = 0; future < 1000; ++future) {
    draws.begin(3, future);
    const TimeUs first = draws.draw(law, 0), second = draws.draw(law, 1);
    alike += first == second ? 1 : 0;
    longer += first == 5 * kSecond ? 1 : 0;
  }
  EXPECT_GT(alike, 950);
  EXPECT_NEAR(longer, 500, 60);
}

TEST(Withdrawals, FollowTheShareThatIsLeft) {
  JobHistory history;
  for (int i = 0; i < 10; ++i) {
    PastJob job = past("a", 1, 0, kSecond);
    if (i < 5) {
      job.start_us = kNever;
      job.withdrawn_after_us = 10 * kSecond;
    } else {
      job.start_us = 20 * kSecond;
    }
    history.jobs.push_back(job);
  }
  const Withdrawals withdrawals(history, 1000 * kSecond);

  EXPECT_EQ(withdrawals.count(), 5);
  EXPECT_EQ(withdrawals.draw(0, 700'000), 10 * kSecond);  // half are left after 10 s
  EXPECT_EQ(withdrawals.draw(0, 400'000), kNever);
  EXPECT_EQ(withdrawals.draw(11 * kSecond, 999'999), kNever);
}

}  // namespace berth::sim::run_times_test
