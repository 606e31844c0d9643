#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "berth/forecast.hpp"
#include "host/forecast/arrivals.hpp"
#include "host/forecast/forecast_times.hpp"
#include "host/forecast/past_waits.hpp"
#include "host/io/traces/importers.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::job_history_test {
namespace {

ClusterState state_at(TimeUs now, const std::string& origin) {
  Snapshot cluster = io::uniform_cluster(1, 8);
  cluster.now_us = now;
  cluster.origin_iso = origin;
  return ClusterState(cluster);
}

TraceJob traced(const std::string& id, TimeUs submit, TimeUs run) {
  TraceJob job;
  job.id = id;
  job.submit_us = submit;
  job.run_us = run;
  return job;
}

}  // namespace

TEST(JobHistory, OfATraceHasTheTimesOfTheStateAndNothingLater) {
  Trace trace;
  trace.origin_iso = "2026-01-02T00:00:00";
  trace.jobs = {traced("a", 0, kSecond), traced("b", 3'600 * kSecond, kSecond), traced("later", 90'000 * kSecond, kSecond)};
  const JobHistory history = history_of(trace, state_at(2 * 86'400 * kSecond, "2026-01-01T00:00:00Z"));

  ASSERT_EQ(history.jobs.size(), 2U);
  EXPECT_EQ(history.jobs[0].submit_us, 86'400 * kSecond);
  EXPECT_EQ(history.jobs[1].submit_us, 90'000 * kSecond);
  ASSERT_EQ(history.notes.size(), 1U);
  EXPECT_EQ(history.notes[0], "left out of the history: 1 job that was submitted after the snapshot");
}

TEST(JobHistory, WithoutAnOriginItEndsNow) {
  Trace trace;
  trace.jobs = {traced("a", 0, kSecond), traced("b", 100 * kSecond, kSecond)};
  const JobHistory history = history_of(trace, state_at(50 * kSecond, "2026-01-01T00:00:00Z"));

  ASSERT_EQ(history.jobs.size(), 2U);
  EXPECT_EQ(history.jobs[1].submit_us, 50 * kSecond);
  EXPECT_EQ(history.notes.size(), 1U);
}

TEST(PastWaits, AreStartsAndWithdrawalsOfSacct) {
  const test::TempFile file(
      "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|ReqTRES\n"
      "1|ann|main|COMPLETED|1000|1060|1160|100|10|gres/gpu=2|gres/gpu=2\n"
      "2|ann|main|CANCELLED by 7|1100|Unknown|1400|0|10||cpu=1,gres/gpu=4\n"
      "3|ann|main|CANCELLED by 7|1100|Unknown|1400|0|10||cpu=1\n"
      "4|ann|main|PENDING|1100|Unknown|Unknown|0|10||gres/gpu=1\n",
      ".txt");
  const forecasts::PastWaits waits = forecasts::read_past_waits(file.path());
  const JobHistory history =
      forecasts::history_with(waits, io::import_trace("sacct", {file.path()}), state_at(2000 * kSecond, "1970-01-01T00:00:00Z"));

  ASSERT_EQ(history.jobs.size(), 2U);
  EXPECT_EQ(history.jobs[0].submit_us, 1000 * kSecond);
  EXPECT_EQ(history.jobs[0].start_us, 1060 * kSecond);
  EXPECT_EQ(history.jobs[0].run_us, 100 * kSecond);
  EXPECT_EQ(history.jobs[1].gpus, 4);
  EXPECT_EQ(history.jobs[1].withdrawn_after_us, 300 * kSecond);
}

TEST(Arrivals, AreWholePastDaysAfterNow) {
  constexpr TimeUs kNow = 20 * sim::kDay;
  JobHistory history;
  for (int day = 6; day < 20; ++day) {
    for (int i = 0; i < 3; ++i) {
      PastJob job;
      job.gpus = day;
      job.submit_us = job.start_us = day * sim::kDay + (i + 1) * 3'600 * kSecond;
      job.run_us = kSecond;
      history.jobs.push_back(job);
    }
  }
  const sim::RunTimes times(history, kNow);
  const sim::PastArrivals past(history, times, kNow);
  sim::Arrivals arrivals(past);
  sim::RunDraws draws(times.groups());
  std::vector<std::int32_t> first;
  for (int future = 0; future < 20; ++future) {
    draws.begin(1, future);
    arrivals.begin(1, future, kNow + 5 * sim::kDay);
    TraceJob job;
    TimeUs last = kNow;
    for (int n = 0; arrivals.next(draws, job); ++n) {
      EXPECT_GT(job.submit_us, kNow);
      EXPECT_GE(job.submit_us, last);
      EXPECT_EQ(job.submit_us % sim::kDay, (n % 3 + 1) * 3'600 * kSecond);
      if (n == 0) first.push_back(job.gpus);
      if (n < 3) {
        EXPECT_EQ(job.gpus, first.back());  // one past day
      }
      last = job.submit_us;
    }
    EXPECT_LE(last, kNow + 5 * sim::kDay);
  }
  EXPECT_NE(*std::min_element(first.begin(), first.end()), *std::max_element(first.begin(), first.end()));
}

TEST(ForecastLevels, AreWhereAnIntervalReachesAValue) {
  std::vector<TimeUs> futures;
  for (int i = 0; i < 100; ++i) futures.push_back((1000 + 10 * i) * kSecond);
  for (const TimeUs value : {1000 * kSecond, 1230 * kSecond, 1235 * kSecond, 1990 * kSecond}) {
    const ForecastLevels at = sim::levels_at(futures, value);
    EXPECT_LE(sim::low_quantile(futures, at.low_ppm - 10'000), value);
    EXPECT_GE(sim::high_quantile(futures, at.high_ppm + 10'000), value);
    EXPECT_GT(sim::low_quantile(futures, at.low_ppm + 20'000), value - 30 * kSecond);
    EXPECT_LT(sim::high_quantile(futures, at.high_ppm - 20'000), value + 30 * kSecond);
  }
  const ForecastLevels before = sim::levels_at(futures, 100 * kSecond), after = sim::levels_at(futures, 4000 * kSecond);
  EXPECT_LT(before.low_ppm, 0);
  EXPECT_NEAR(static_cast<double>(sim::low_quantile(futures, before.low_ppm)), 100e6, 1e6);
  EXPECT_GT(after.high_ppm, 1'000'000);
  EXPECT_NEAR(static_cast<double>(sim::high_quantile(futures, after.high_ppm)), 4000e6, 1e6);
}

}  // namespace berth::job_history_test
